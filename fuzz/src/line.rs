//! The line framer against a plain split.

use transport::line::{Event, Framer};

use crate::Rng;

/// The first byte seeds cap and cuts, the rest is the stream.
pub fn line(data: &[u8]) {
    let Some((seed, stream)) = data.split_first() else {
        return;
    };
    let cap = usize::from(seed & 31);
    let mut rng = Rng(u64::from(*seed));
    let expected = plain(stream, cap);
    assert_eq!(framed(stream, cap, |rest| rest), expected);
    assert_eq!(framed(stream, cap, |_| 1), expected);
    assert_eq!(framed(stream, cap, |rest| 1 + rng.below(rest)), expected);
}

/// A line's bytes, or the length of one that was dropped.
type Line = Result<Vec<u8>, u64>;

fn plain(stream: &[u8], cap: usize) -> Vec<Line> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let lines = stream.split(|byte| *byte == b'\n');
    lines
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| line.len() > cap || !line.iter().all(|byte| b" \t\r".contains(byte)))
        .map(|line| if line.len() > cap { Err(line.len() as u64) } else { Ok(line.to_vec()) })
        .collect()
}

fn framed(stream: &[u8], cap: usize, mut piece: impl FnMut(usize) -> usize) -> Vec<Line> {
    let mut framer = Framer::new(cap);
    let (mut buf, mut rest, mut lines) = (Vec::new(), stream, Vec::new());
    loop {
        let event = match framer.poll(&mut buf) {
            Event::NeedMore if rest.is_empty() => {
                lines.extend(framer.finish(&buf).map(|event| owned(event, &buf)));
                return lines;
            }
            Event::NeedMore => {
                let (now, later) = rest.split_at(piece(rest.len()).min(rest.len()));
                buf.extend_from_slice(now);
                rest = later;
                continue;
            }
            event => event,
        };
        lines.push(owned(event, &buf));
    }
}

fn owned(event: Event, buf: &[u8]) -> Line {
    match event {
        Event::Line(range) => Ok(buf[range].to_vec()),
        Event::TooLong { bytes } => Err(bytes),
        Event::NeedMore => unreachable!("the callers have dealt with it"),
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    b"\x1f{}\n{\"a\":1}\r\n\n  \n{}",
    b"\x04\xef\xbb\xbfabc\nabcdefgh\nab\r\n\xef\xbb\xbf\n",
    b"\x02\r\r\n\r\n abc\n\n\nabcdefghijklmnopqrstuvwxyz",
];

pub(crate) const DICTIONARY: &[&[u8]] =
    &[b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xef", b"\xef\xbb", b" "];
