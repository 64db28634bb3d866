//! Lines against a plain split of the whole stream.

use proptest::prelude::*;

use super::{Event, Framer};

/// A line's bytes, or the length of one that was over the cap.
type Line = Result<Vec<u8>, u64>;

fn frame<'a>(cap: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
    let mut framer = Framer::new(cap);
    let (mut buf, mut lines) = (Vec::new(), Vec::new());
    let owned = |event, buf: &[u8]| match event {
        Event::Line(range) => Ok(buf[range].to_vec()),
        Event::TooLong { bytes } => Err(bytes),
        Event::NeedMore => panic!("not a line"),
    };
    for piece in pieces {
        buf.extend_from_slice(piece);
        loop {
            match framer.poll(&mut buf) {
                Event::NeedMore => break,
                event => lines.push(owned(event, &buf)),
            }
        }
        assert!(buf.len() <= cap + 4, "the rest of the buffer is less than one line");
    }
    lines.extend(framer.finish(&buf).map(|event| owned(event, &buf)));
    lines
}

/// [STD-01] [STD-09] [STD-10] CRLF and LF, blank lines, byte order mark, over-long lines, no last end
#[test]
fn lines() {
    let line = |text: &str| Ok(text.as_bytes().to_vec());
    let rows: [(&[u8], Vec<Line>); 16] = [
        (b"", vec![]),
        (b"a\n", vec![line("a")]),
        (b"a\r\nb\n", vec![line("a"), line("b")]),
        (b"a", vec![line("a")]),
        (b"a\r", vec![line("a")]),
        (b"\n\r\n \t\n\r\r\n", vec![]),
        (b"\xef\xbb\xbfa\n", vec![line("a")]),
        (b"\xef\xbb\xbf\na\n", vec![line("a")]),
        (b"a\n\xef\xbb\xbfb\n", vec![line("a"), line("\u{feff}b")]),
        (b"a\rb\n", vec![line("a\rb")]),
        (b" a \n", vec![line(" a ")]),
        (b"12345678\n", vec![line("12345678")]),
        (b"12345678\r\n", vec![line("12345678")]),
        (b"123456789\na\n", vec![Err(9), line("a")]),
        (b"\xef\xbb\xbf12345678\n", vec![line("12345678")]),
        (b"1234567890123456789\r\n\n12345678901", vec![Err(19), Err(11)]),
    ];
    for (stream, expected) in rows {
        for step in 1..=stream.len().max(1) {
            let found = frame(8, stream.chunks(step));
            assert_eq!(found, expected, "{} by {step}", stream.escape_ascii());
        }
    }
}

/// [STD-09] a line over the default cap is dropped as it comes, and the next one is served
#[test]
fn eleven_mebibytes() {
    let cap = crate::limits::LINE_BYTES_MAX;
    let mut framer = Framer::new(cap);
    let mut buf = Vec::new();
    for _ in 0..11 * 16 {
        buf.extend_from_slice(&[b'x'; 64 * 1024]);
        assert_eq!(framer.poll(&mut buf), Event::NeedMore);
        assert!(buf.len() <= cap + 4);
    }
    buf.extend_from_slice(b"\n{}\n");
    assert_eq!(framer.poll(&mut buf), Event::TooLong { bytes: 11 * 1024 * 1024 });
    let Event::Line(range) = framer.poll(&mut buf) else { panic!("the next line is there") };
    assert_eq!(&buf[range], b"{}");
}

/// [STD-12] lines that wait in the buffer keep their places until it runs dry
#[test]
fn waiting_lines_stay_in_place() {
    let mut framer = Framer::new(64);
    let mut buf = b"ab\ncd\nef".to_vec();
    assert_eq!(framer.poll(&mut buf), Event::Line(0..2));
    assert_eq!(framer.poll(&mut buf), Event::Line(3..5));
    assert_eq!(buf.len(), 8);
    assert_eq!(framer.poll(&mut buf), Event::NeedMore);
    assert_eq!(buf, b"ef");
}

proptest! {
    /// [STD-01] [STD-09] [STD-10] [SEC-08] any bytes, cut anywhere, against a plain split
    #[test]
    fn like_a_plain_split(
        stream in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(0xef), Just(0xbb), Just(0xbf), any::<u8>()],
            0..120,
        ),
        mark in any::<bool>(),
        cap in 0usize..12,
        step in 1usize..30,
    ) {
        let stream = if mark { [b"\xef\xbb\xbf", &stream[..]].concat() } else { stream };
        let rest = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&stream);
        let expected: Vec<Line> = rest
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| line.len() > cap || !line.iter().all(|byte| b" \t\r".contains(byte)))
            .map(|line| if line.len() > cap { Err(line.len() as u64) } else { Ok(line.to_vec()) })
            .collect();
        prop_assert_eq!(frame(cap, stream.chunks(step)), expected);
    }
}
