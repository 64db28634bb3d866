//! RFC 3986 and RFC 6570 tables, and two slow references: the URI grammar as a backtracking machine, and
//! template matching by trying every split.

use proptest::prelude::*;

use super::*;

/// [RES-08] [RES-11] the RFC 3986 examples, custom schemes, and what is no URI
#[test]
fn uri_table() {
    for valid in [
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "http://www.ietf.org/rfc/rfc2396.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "mailto:John.Doe@example.com",
        "news:comp.infosystems.www.servers.unix",
        "tel:+1-816-555-1212",
        "telnet://192.0.2.16:80/",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "test://static-text",
        "file:///etc/hosts",
        "git+ssh://u:p@h:22/x?y#z",
        "a:",
        "a:/",
        "a://",
        "a:///",
        "x://[v1f.a:b]:/",
        "x://[::ffff:1.2.3.4]",
        "x://host:/p%20q?%41/?#/?",
        "data:text/plain;base64,SGk=",
    ] {
        assert!(is_valid(valid), "{valid}");
    }
    for invalid in [
        "",
        "not a uri",
        "a b:c",
        "//host/path",
        "/path",
        ":a",
        "1a:b",
        "-a:b",
        "x://h/\0",
        "x:a\nb",
        "x:caf\u{e9}",
        "x:%",
        "x:%4",
        "x:%4g",
        "x:a\\b",
        "x:<a>",
        "x:a#b#c",
        "x:[a]",
        "x://h:8a/",
        "x://a@b@c/",
        "x://[::1",
        "x://[::1]a",
        "x://[1.2.3.4]",
        "x://[fe80::1%25eth0]",
        "x://[v.a]",
        "x://[v1.]",
        "x://h\"/",
        "é:a",
    ] {
        assert!(!is_valid(invalid), "{invalid}");
    }
}

/// [RES-09] file URIs decode once, and every known way out of the served directory is refused
#[test]
fn file_segment_table() {
    use FileFault as F;
    for (uri, segments) in [
        ("file:///a/b.txt", &["a", "b.txt"][..]),
        ("file:/a/b", &["a", "b"]),
        ("FILE://LocalHost/a", &["a"]),
        ("file:///a/", &["a"]),
        ("file:///", &[]),
        ("file:///a%20b/%C3%A9", &["a b", "é"]),
        ("file:///..a/b..", &["..a", "b.."]),
        ("file:///100%25", &["100%"]),
        ("file:///console/com10", &["console", "com10"]),
    ] {
        let found = file_segments(uri).unwrap_or_else(|fault| panic!("{uri}: {fault}"));
        assert_eq!(found, segments, "{uri}");
    }
    for (uri, fault) in [
        ("/etc/passwd", F::NotFile),
        ("http://h/a", F::NotFile),
        ("file:a/b", F::NotFile),
        ("file://", F::NotFile),
        ("file:///a?b", F::NotFile),
        ("file:///a#b", F::NotFile),
        ("file:///a\\b", F::NotFile),
        ("file:///a\0", F::NotFile),
        ("file:///%zz", F::NotFile),
        ("file://server/share/a", F::Host),
        ("file:///a/../b", F::Traversal),
        ("file:///..", F::Traversal),
        ("file:///./a", F::Traversal),
        ("file:////etc/passwd", F::Traversal),
        ("file:///a//b", F::Traversal),
        ("file:////", F::Traversal),
        ("file:///%2e%2e/a", F::Traversal),
        ("file:///%2E./a", F::Traversal),
        ("file:///..%20/a", F::Traversal),
        ("file:///%2e%2e%2fetc", F::Character),
        ("file:///..%5c..%5cetc", F::Character),
        ("file:///a%2Fb", F::Character),
        ("file:///a%00.txt", F::Character),
        ("file:///a%0a", F::Character),
        ("file:///%C0%AE%C0%AE/a", F::Character),
        ("file:///%252e%252e%252fetc", F::DoubleEncoding),
        ("file:///a%2541", F::DoubleEncoding),
        ("file:///C:/windows", F::Device),
        ("file:///c%3a/windows", F::Device),
        ("file:///CON", F::Device),
        ("file:///a/nul.txt", F::Device),
        ("file:///com1", F::Device),
        ("file:///lpt9.log", F::Device),
        ("file:///COM%C2%B9", F::Device),
        ("file:///aux%20.txt", F::Device),
    ] {
        assert_eq!(file_segments(uri), Err(fault), "{uri}");
    }
}

/// A rule of the URI grammar, matched by collecting every position where it can end.
enum Rule {
    Class(fn(u8) -> bool),
    Text(&'static str),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Repeat(usize, usize, Box<Rule>),
}

impl Rule {
    fn ends(&self, text: &[u8], start: usize) -> Vec<usize> {
        let mut ends = match self {
            Rule::Class(class) => match text.get(start) {
                Some(&byte) if class(byte) => vec![start + 1],
                _ => vec![],
            },
            Rule::Text(literal) => match text[start..].starts_with(literal.as_bytes()) {
                true => vec![start + literal.len()],
                false => vec![],
            },
            Rule::All(rules) => rules.iter().fold(vec![start], |starts, rule| {
                let mut ends: Vec<_> =
                    starts.into_iter().flat_map(|start| rule.ends(text, start)).collect();
                ends.sort_unstable();
                ends.dedup();
                ends
            }),
            Rule::Any(rules) => rules.iter().flat_map(|rule| rule.ends(text, start)).collect(),
            Rule::Repeat(least, most, rule) => {
                let (mut all, mut frontier) = (vec![], vec![start]);
                for round in 0..=*most {
                    if round >= *least {
                        all.extend(&frontier);
                    }
                    frontier = frontier
                        .into_iter()
                        .flat_map(|start| {
                            rule.ends(text, start).into_iter().filter(move |e| *e > start)
                        })
                        .collect();
                    frontier.sort_unstable();
                    frontier.dedup();
                    if frontier.is_empty() {
                        break;
                    }
                }
                all
            }
        };
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// RFC 3986 appendix A, transcribed.
fn grammar() -> Rule {
    use Rule::{All, Any, Class, Text};
    let star = |rule| Rule::Repeat(0, usize::MAX, Box::new(rule));
    let times = |least, most, rule| Rule::Repeat(least, most, Box::new(rule));
    let maybe = |rule| Rule::Repeat(0, 1, Box::new(rule));
    let hex = || Class(|b| b.is_ascii_hexdigit());
    let digit = || Class(|b| b.is_ascii_digit());
    let pct = || All(vec![Text("%"), hex(), hex()]);
    let plain = || Class(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&b));
    let pchar = || Any(vec![plain(), pct(), Text(":"), Text("@")]);
    let scheme = All(vec![
        Class(|b| b.is_ascii_alphabetic()),
        star(Class(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))),
    ]);
    let octet = || {
        Any(vec![
            digit(),
            All(vec![Class(|b| (b'1'..=b'9').contains(&b)), digit()]),
            All(vec![Text("1"), digit(), digit()]),
            All(vec![Text("2"), Class(|b| (b'0'..=b'4').contains(&b)), digit()]),
            All(vec![Text("25"), Class(|b| (b'0'..=b'5').contains(&b))]),
        ])
    };
    let v4 = || All(vec![octet(), Text("."), octet(), Text("."), octet(), Text("."), octet()]);
    let h16 = || times(1, 4, hex());
    let group = || All(vec![h16(), Text(":")]);
    let ls32 = || Any(vec![All(vec![group(), h16()]), v4()]);
    let before = |most: usize| maybe(All(vec![times(0, most, group()), h16()]));
    let v6 = Any(vec![
        All(vec![times(6, 6, group()), ls32()]),
        All(vec![Text("::"), times(5, 5, group()), ls32()]),
        All(vec![before(0), Text("::"), times(4, 4, group()), ls32()]),
        All(vec![before(1), Text("::"), times(3, 3, group()), ls32()]),
        All(vec![before(2), Text("::"), times(2, 2, group()), ls32()]),
        All(vec![before(3), Text("::"), group(), ls32()]),
        All(vec![before(4), Text("::"), ls32()]),
        All(vec![before(5), Text("::"), h16()]),
        All(vec![before(6), Text("::")]),
    ]);
    let future = All(vec![
        Any(vec![Text("v"), Text("V")]),
        times(1, usize::MAX, hex()),
        Text("."),
        times(1, usize::MAX, Any(vec![plain(), Text(":")])),
    ]);
    let host = Any(vec![
        All(vec![Text("["), Any(vec![v6, future]), Text("]")]),
        star(Any(vec![plain(), pct()])),
    ]);
    let authority = All(vec![
        maybe(All(vec![star(Any(vec![plain(), pct(), Text(":")])), Text("@")])),
        host,
        maybe(All(vec![Text(":"), star(digit())])),
    ]);
    let abempty = || star(All(vec![Text("/"), star(pchar())]));
    let rootless = || All(vec![times(1, usize::MAX, pchar()), abempty()]);
    let hierarchy = Any(vec![
        All(vec![Text("//"), authority, abempty()]),
        All(vec![Text("/"), maybe(rootless())]),
        rootless(),
        Text(""),
    ]);
    let tail = || star(Any(vec![pchar(), Text("/"), Text("?")]));
    All(vec![
        scheme,
        Text(":"),
        hierarchy,
        maybe(All(vec![Text("?"), tail()])),
        maybe(All(vec![Text("#"), tail()])),
    ])
}

proptest! {
    /// [RES-08] the scan agrees with the transcribed grammar on texts near the grammar
    #[test]
    fn uri_equals_grammar(text in prop_oneof![
        "[a1+.:/?#@%4\\[\\]é -]{0,14}",
        "a:(//)?[a:@%]{0,6}(/[a%2f]{0,4}){0,2}(\\?[a/?#%]{0,4})?",
        "x://\\[[0-9a:.]{0,9}\\](:[0-9a]{0,2})?",
        "x://\\[([0-9a]{1,5}:){0,8}(:|[0-9a]{1,4})?(:[0-9a]{1,4}){0,7}\\]",
        "x://\\[(::|1:2:3:4:5:6:|::f:)[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,2}\\.[0-9]{1,3}\\]",
        "x://\\[v[0-9ag]{0,2}\\.?[a:%]{0,3}\\]",
    ]) {
        let bytes = text.as_bytes();
        let expected = grammar().ends(bytes, 0).contains(&bytes.len());
        prop_assert_eq!(is_valid(&text), expected, "{}", text);
    }

    /// [SEC-08] nothing panics, whatever the text
    #[test]
    fn nothing_panics(source in any::<String>(), uri in any::<String>()) {
        let _ = is_valid(&uri);
        if let Ok(template) = Template::parse(&source) {
            let _ = template.match_uri(&uri);
            prop_assert_eq!(template.as_str(), source);
        }
    }
}

fn parse(source: &str) -> Template {
    Template::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn matched(source: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let template = parse(source);
    let values = template.match_uri(uri)?;
    Some(values.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect())
}

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

/// [RES-03] [RES-10] what is refused, and why
#[test]
fn template_faults() {
    use TemplateError as E;
    let long = "a".repeat(TEMPLATE_BYTES_MAX + 1);
    let many: String = (0..=VARIABLES_MAX).map(|n| format!("{{/v{n}}}")).collect();
    for (source, error) in [
        ("{", E::Brace),
        ("a}b", E::Brace),
        ("{a", E::Brace),
        ("{a{b}}", E::Brace),
        ("{{a}", E::Brace),
        ("{}", E::Name),
        ("{a,}", E::Name),
        ("{a b}", E::Name),
        ("{a..b}", E::Name),
        ("{.}", E::Name),
        ("{a%2}", E::Name),
        ("{=a}", E::Operator),
        ("{!a}", E::Operator),
        ("{@a}", E::Operator),
        ("{|a}", E::Operator),
        ("{,a}", E::Operator),
        ("{a*}", E::Modifier),
        ("{/a*}", E::Modifier),
        ("{a:3}", E::Modifier),
        ("a b", E::Literal),
        ("a%2", E::Literal),
        ("a\"{b}", E::Literal),
        ("a\\b", E::Literal),
        ("{a}/{a}", E::Duplicate),
        ("{a}{b}", E::Ambiguous),
        ("{a}{+b}", E::Ambiguous),
        ("{+a}/{+b}", E::Ambiguous),
        ("{+a,b}", E::Ambiguous),
        ("{#a,b}", E::Ambiguous),
        ("x{?a}y", E::Misplaced),
        ("x{?a}{b}", E::Misplaced),
        ("x{?a}{?b}", E::Misplaced),
        ("x?y{?a}", E::Misplaced),
        ("x{&a}", E::Misplaced),
        ("x?{&a}", E::Misplaced),
        ("x?y={a}{&b}", E::Misplaced),
        ("x?y={a}?z{&b}", E::Misplaced),
        ("x#y{?a}", E::Misplaced),
        ("x#y{#a}", E::Misplaced),
        ("{#a}{#b}", E::Misplaced),
        (&long, E::TooLong),
        (&many, E::TooManyVariables),
    ] {
        assert_eq!(Template::parse(source).err(), Some(error), "{source}");
    }
}

/// [RES-10] [CF] what a template matches, and to which values
#[test]
fn template_matches() {
    type Row = (&'static str, &'static str, Option<&'static [(&'static str, &'static str)]>);
    let rows: &[Row] = &[
        ("test://template/{id}/data", "test://template/123/data", Some(&[("id", "123")])),
        ("test://template/{id}/data", "test://template/a/b/data", None),
        ("test://template/{id}/data", "test://template//data", None),
        ("test://template/{id}/data", "test://template/1/data/", None),
        ("test://template/{id}/data", "test://template/1?x/data", None),
        ("test://template/{id}/data", "test://template/1#x/data", None),
        ("test://template/{id}/data", "TEST://template/1/data", None),
        // Decoded exactly once.
        ("t://{id}", "t://a%2Fb", Some(&[("id", "a/b")])),
        ("t://{id}", "t://%252F", Some(&[("id", "%2F")])),
        ("t://{id}", "t://%E6%97%A5", Some(&[("id", "日")])),
        ("t://{id}", "t://%FF", None),
        ("t://{id}", "t://%4", None),
        ("t://{id}", "t://a,b", Some(&[("id", "a,b")])),
        ("t://{a,b}", "t://1,2", Some(&[("a", "1"), ("b", "2")])),
        ("t://{a,b}", "t://1", None),
        ("t://{a}-{b}", "t://1-2-3", Some(&[("a", "1"), ("b", "2-3")])),
        ("t://{a}.json", "t://x.json.json", Some(&[("a", "x.json")])),
        ("t://{a}.json", "t://.json", None),
        // A literal never splits a triplet.
        ("t:{a}2{b}", "t:%222b", Some(&[("a", "\""), ("b", "b")])),
        ("t:{a}2{b}", "t:%22b", None),
        ("t:{+a}2{b}", "t:x2%22", Some(&[("a", "x"), ("b", "\"")])),
        ("t:{a}2", "t:%22", None),
        ("t://{a}aa", "t://aaa", Some(&[("a", "a")])),
        ("file:///{+path}", "file:///a/b?c#d", Some(&[("path", "a/b?c#d")])),
        ("file:///{+path}", "file:///", None),
        ("t:{+p}/x{a}", "t:p/xq/xr", Some(&[("p", "p/xq"), ("a", "r")])),
        ("t:{a}/{+p}/{b}", "t:1/2/3/4", Some(&[("a", "1"), ("p", "2/3"), ("b", "4")])),
        ("t:{+p}.{ext}", "t:a/b.c.d", Some(&[("p", "a/b.c"), ("ext", "d")])),
        ("t:x{/a,b}", "t:x/1/2", Some(&[("a", "1"), ("b", "2")])),
        ("t:x{/a,b}", "t:x/1", None),
        ("t:f{.e}", "t:f.tar.gz", Some(&[("e", "tar.gz")])),
        ("t:f{.e,g}", "t:f.tar.gz", Some(&[("e", "tar"), ("g", "gz")])),
        ("t:f{;a,b}", "t:f;a=1;b=2", Some(&[("a", "1"), ("b", "2")])),
        ("t:f{;a,b}", "t:f;b=2;a=1", None),
        ("t:f{;a}", "t:f;b=1", None),
        // Query parameters: any order, any subset, nothing else.
        ("t:s{?q,n}", "t:s?q=a&n=1", Some(&[("q", "a"), ("n", "1")])),
        ("t:s{?q,n}", "t:s?n=1&q=a", Some(&[("q", "a"), ("n", "1")])),
        ("t:s{?q,n}", "t:s?n=1", Some(&[("n", "1")])),
        ("t:s{?q,n}", "t:s", Some(&[])),
        ("t:s{?q,n}", "t:s?", None),
        ("t:s{?q,n}", "t:s?q=", Some(&[("q", "")])),
        ("t:s{?q,n}", "t:s?q", None),
        ("t:s{?q,n}", "t:s?q=1&q=2", None),
        ("t:s{?q,n}", "t:s?z=1", None),
        ("t:s{?q,n}", "t:s?q=1&", None),
        ("t:s{?q,n}", "t:s?q=a/b?c", Some(&[("q", "a/b?c")])),
        ("t:s{?q,n}", "t:s?q=a%26b", Some(&[("q", "a&b")])),
        ("t:s{?q,n}", "t:s?q=a#f", None),
        ("t:s{?q}{&n}", "t:s?n=1", Some(&[("n", "1")])),
        ("t:{+p}{?q}", "t:a/b?q=1", Some(&[("p", "a/b"), ("q", "1")])),
        ("t:{+p}{?q}", "t:a/b?z=1", None),
        ("t:s?f=1{&q}", "t:s?f=1&q=2", Some(&[("q", "2")])),
        ("t:s?f=1{&q}", "t:s?f=1", Some(&[])),
        ("t:s?f=1{&q}", "t:s?f=12", None),
        ("t:s?f=1{&q}", "t:s", None),
        ("t:s?a={a}&b={b}", "t:s?a=1&b=2", Some(&[("a", "1"), ("b", "2")])),
        ("t:s?a={a}&b={b}", "t:s?a=1&z=3&b=2", None),
        // Fragments.
        ("t:s{#f}", "t:s#a/b?c", Some(&[("f", "a/b?c")])),
        ("t:s{#f}", "t:s", None),
        ("t:s{?q}{#f}", "t:s?q=1#2", Some(&[("q", "1"), ("f", "2")])),
        ("t:{a}#x{b}", "t:1#x2", Some(&[("a", "1"), ("b", "2")])),
        ("t:{+a}#x{b}", "t:1/2#x2", Some(&[("a", "1/2"), ("b", "2")])),
        // No variable at all.
        ("t:s", "t:s", Some(&[])),
        ("t:s", "t:ss", None),
        ("caf\u{e9}:{a}", "caf%C3%A9:1", Some(&[("a", "1")])),
        ("", "", Some(&[])),
        ("", "x", None),
    ];
    for (source, uri, expected) in rows {
        let expected = expected.map(|pairs| {
            pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
        });
        assert_eq!(matched(source, uri), expected, "{source} on {uri}");
    }
}

/// [RES-10] a URI over the cap matches nothing, and the longest one costs one pass
#[test]
fn template_bounds() {
    let template = parse("t://{a}/{b}-{c}-{d}");
    let at_cap = format!("t://{}", "a".repeat(URI_BYTES_MAX - 4));
    assert_eq!(parse("t://{a}").match_uri(&at_cap).map(|values| values.len()), Some(1));
    assert_eq!(parse("t://{a}").match_uri(&format!("{at_cap}a")), None);
    assert_eq!(template.match_uri(&"-".repeat(1 << 20)), None);
    let names: Vec<_> = template.variables().collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

/// A template as alternating literals and variables, `true` for `{+v}`.
fn naive_matches(parts: &[Naive], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [Naive::Literal(literal), rest @ ..] => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| naive_matches(rest, text))
        }
        [Naive::Variable { reserved }, rest @ ..] => (1..=text.len()).any(|end| {
            let legal = *reserved || !text[..end].contains(['/', '?', '#']);
            legal && naive_matches(rest, &text[end..])
        }),
    }
}

#[derive(Debug, Clone)]
enum Naive {
    Literal(String),
    Variable { reserved: bool },
}

fn naive_template() -> impl Strategy<Value = Vec<Naive>> {
    let literal = "[a/-]{1,3}".prop_map(Naive::Literal);
    let pair = (literal, any::<bool>());
    (proptest::collection::vec(pair, 1..5), "[a/-]{0,2}", 0usize..6).prop_map(
        |(pairs, tail, reserved_at)| {
            let mut parts = vec![];
            for (at, (literal, _)) in pairs.into_iter().enumerate() {
                parts.push(literal);
                parts.push(Naive::Variable { reserved: at == reserved_at });
            }
            if !tail.is_empty() {
                parts.push(Naive::Literal(tail));
            }
            parts
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// [RES-10] the linear matcher finds a match exactly when trying every split does, and its values
    /// put back into the template give the URI
    #[test]
    fn match_equals_every_split(parts in naive_template(), uri in "[a/-]{0,14}") {
        let mut source = String::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Naive::Literal(text) => source.push_str(text),
                Naive::Variable { reserved: true } => source.push_str(&format!("{{+v{at}}}")),
                Naive::Variable { reserved: false } => source.push_str(&format!("{{v{at}}}")),
            }
        }
        let template = Template::parse(&source).expect("alternating parts are unambiguous");
        let values = template.match_uri(&uri);
        prop_assert_eq!(values.is_some(), naive_matches(&parts, &uri), "{} on {}", source, uri);
        if let Some(values) = values {
            let mut values = values.into_iter();
            let rebuilt: String = parts.iter().map(|part| match part {
                Naive::Literal(text) => text.clone(),
                Naive::Variable { .. } => values.next().expect("one value each").1.into_owned(),
            }).collect();
            prop_assert_eq!(rebuilt, uri);
        }
    }

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
