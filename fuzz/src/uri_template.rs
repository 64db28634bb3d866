//! Template parser and matcher, and the URI check.

use codec::uri::{self, Template, URI_BYTES_MAX};

/// A template, a line break, a URI.
pub fn uri_template(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (source, uri) = text.split_once('\n').unwrap_or(("", &text));
    let valid = uri::is_valid(uri);
    assert!(!valid || uri.is_ascii());
    let Ok(template) = Template::parse(source) else {
        return;
    };
    let Some(values) = template.match_uri(uri) else {
        return;
    };
    assert!(values.iter().all(|(name, _)| template.variables().any(|known| known == *name)));
    // With a triplet in the URI, what `{+v}` decoded may not be what it expands.
    let again = template.expand(&values);
    if !uri.contains('%') && again.len() <= URI_BYTES_MAX {
        assert!(template.match_uri(&again).is_some(), "{again}");
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    b"test://template/{id}/data\ntest://template/123/data",
    b"file:///{+path}{?v,w}{#f}\nfile:///a/b.c?w=1&v=%2F#x",
    b"t:{a}2{+p}-{b,c}{/d}{.e}{;g}\nt:12x/y-3,4/5.6;g=7",
    b"t:s?f=1{&q,r}\nt:s?f=1&r=2&q=3",
    b"\nx://u@[::1]:80/p%20q?a#b",
];

pub(crate) const DICTIONARY: &[&[u8]] = &[
    b"{",
    b"}",
    b"{a}",
    b"{+b}",
    b"{/c}",
    b"{.d}",
    b"{;e}",
    b"{?g}",
    b"{&h}",
    b"{#i}",
    b"%22",
    b"%",
    b"2",
    b"/",
    b"?",
    b"#",
    b"&",
    b"=",
    b",",
    b"\n",
    b"\xc3\xa9",
];
