//! What a template matches and to which values, and what that may cost.

use super::super::URI_BYTES_MAX;
use super::parse;

fn matched(source: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let template = parse(source);
    let values = template.match_uri(uri)?;
    Some(values.into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect())
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
