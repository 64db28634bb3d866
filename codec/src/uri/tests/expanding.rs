//! Templates with values put in: the examples of RFC 6570, and the way back by matching.

use proptest::prelude::*;

use super::parse;

/// [RES-03] [RES-10] the string examples of RFC 6570 sections 1.2 and 3.2
#[test]
fn rfc_6570_expansions() {
    let values = [
        ("var", "value"),
        ("hello", "Hello World!"),
        ("path", "/foo/bar"),
        ("empty", ""),
        ("x", "1024"),
        ("y", "768"),
        ("half", "50%"),
        ("base", "http://example.com/home/"),
        ("who", "fred"),
        ("semi", ";"),
        ("v", "6"),
        ("dub", "me/too"),
    ];
    for (template, expansion) in [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{+base}index", "http://example.com/home/index"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{/var}/here", "up/foo/bar/value/here"),
        ("{#var}", "#value"),
        ("{#hello}", "#Hello%20World!"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{.who}", ".fred"),
        ("{.half}", ".50%25"),
        ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"),
        ("X{.empty}", "X."),
        ("{/who}", "/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{;who}", ";who=fred"),
        ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,bar,who}", ";v=6;who=fred"),
        ("{?who}", "?who=fred"),
        ("{?half}", "?half=50%25"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("?fixed=yes{&x,y,empty}", "?fixed=yes&x=1024&y=768&empty="),
        ("caf\u{e9}/{var}", "caf%C3%A9/value"),
    ] {
        assert_eq!(parse(template).expand(&values), expansion, "{template}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// [RES-10] what a template expands to, it matches, with the same values: encoded and decoded once
    #[test]
    fn expand_then_match(
        (simple, more, query) in ("\\PC{1,8}", "\\PC{1,8}", "\\PC{0,8}"),
        (reserved, fragment) in ("[a-z/?:@é]{1,8}", "[a-z/?:@é]{1,8}"),
    ) {
        let values = [
            ("a", simple.as_str()), ("b", &more), ("q", &query), ("r", &reserved), ("f", &fragment),
        ];
        for (source, names) in [
            ("t://{a}/x{/b}{?q}{#f}", "abqf"),
            ("t://h/{a,b}", "ab"),
            ("t://h/{a}/{+r}/{b}", "arb"),
            ("t://h{;a,b}", "ab"),
            ("t://h?fixed=1{&q,a}", "qa"),
            ("t://h?x={a}&y={b}", "ab"),
            ("t://{+r}", "r"),
        ] {
            let template = parse(source);
            let uri = template.expand(&values);
            let expected: Vec<_> = names
                .split_terminator("")
                .filter(|name| !name.is_empty())
                .map(|name| *values.iter().find(|(known, _)| *known == name).expect("a value"))
                .collect();
            let found = template.match_uri(&uri);
            let found = found.as_ref().map(|values| {
                values.iter().map(|(name, value)| (*name, &**value)).collect::<Vec<_>>()
            });
            prop_assert_eq!(found, Some(expected), "{} {}", source, uri);
        }
    }

    /// [RES-10] any parseable template matches what it expands to, even where values look like literals
    #[test]
    fn expand_is_matched(
        source in "t:(\\{\\+r\\})?[2f/-]{1,2}\\{a\\}[2f/-]{1,2}\\{b\\}[2f-]{0,2}(\\{\\?q\\})?(\\{#f\\})?",
        values in proptest::collection::vec("[2f\"/é!-]{1,6}", 5),
    ) {
        let values: Vec<_> = ["a", "b", "q", "r", "f"].into_iter().zip(values).collect();
        let template = parse(&source);
        let uri = template.expand(&values);
        prop_assert!(template.match_uri(&uri).is_some(), "{} {}", source, uri);
    }
}
