//! File URIs as segments of a path, and every way out of the served directory.

use super::super::{FileFault, file_segments};

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
