//! What is a URI: the RFC 3986 examples, and the scan against the transcribed grammar.

use proptest::prelude::*;

use super::super::is_valid;
use super::grammar::grammar;

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
}
