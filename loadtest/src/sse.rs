//! Server-sent events, reading side: the data of every event of a whole stream.

use std::borrow::Cow;

/// The data of each event, in order; comments and other fields are dropped, and so is what no empty line ends.
pub(crate) fn events(stream: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut events = Vec::new();
    let mut data: Option<Cow<'_, [u8]>> = None;
    let mut rest = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    while let Some(end) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
        let line = &rest[..end];
        rest = &rest[end + if rest[end..].starts_with(b"\r\n") { 2 } else { 1 }..];
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(value) = data_of(line) {
            match &mut data {
                None => data = Some(Cow::Borrowed(value)),
                Some(lines) => {
                    lines.to_mut().push(b'\n');
                    lines.to_mut().extend_from_slice(value);
                }
            }
        }
    }
    events
}

/// Bytes at the start of `stream` that hold whole events: up to the last empty line.
pub(crate) fn whole(stream: &[u8]) -> usize {
    let (mut whole, mut line) = (0, 0);
    while let Some(end) = stream[line..].iter().position(|b| matches!(b, b'\n' | b'\r')) {
        let after = line + end + if stream[line + end..].starts_with(b"\r\n") { 2 } else { 1 };
        if end == 0 {
            whole = after;
        }
        line = after;
    }
    whole
}

/// The value of a `data` field.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    match rest.strip_prefix(b":") {
        Some(value) => Some(value.strip_prefix(b" ").unwrap_or(value)),
        None => rest.is_empty().then_some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [SSE-04] Fields, comments and all three line ends, by the letter of the event stream format.
    #[test]
    fn streams() {
        let cases: [(&str, &[&str]); 7] = [
            ("event: message\ndata: {}\n\n", &["{}"]),
            (": hi\n\ndata:a\r\ndata: b\r\n\r\ndata\n\n", &["a\nb", ""]),
            ("data: a\rdata:  b\r\rdata: c", &["a\n b"]),
            ("\u{feff}data: x\n\n", &["x"]),
            ("id: 1\nretry: 5\n\n", &[]),
            ("database: x\n\n", &[]),
            ("", &[]),
        ];
        for (stream, expected) in cases {
            let found = events(stream.as_bytes());
            let found: Vec<_> =
                found.iter().map(|data| std::str::from_utf8(data).unwrap()).collect();
            assert_eq!(found, expected, "{stream:?}");
        }
    }

    /// [SSE-04] A stream read as it comes, in two pieces cut anywhere, gives the same events.
    #[test]
    fn cuts() {
        for stream in ["data: a\n\n: c\n\ndata: b\r\n\r\ndata: c\r\rdata: d", "\r\n", ""] {
            for cut in 0..=stream.len() {
                let first = whole(&stream.as_bytes()[..cut]);
                let rest = &stream.as_bytes()[first..];
                let mut found = events(&stream.as_bytes()[..first]);
                found.extend(events(&rest[..whole(rest)]));
                assert_eq!(found, events(stream.as_bytes()), "{stream:?} cut at {cut}");
            }
        }
    }
}
