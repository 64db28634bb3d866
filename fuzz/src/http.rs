//! The HTTP machine: however a stream is cut, it means the same.

use transport::http::{Event, Limits, Machine};

use crate::Rng;

/// The first byte seeds the cuts and the refusals, the rest is the stream.
pub fn http(data: &[u8]) {
    let Some((seed, stream)) = data.split_first() else {
        return;
    };
    let whole = serve(stream, *seed, |rest| rest);
    let bytewise = serve(stream, *seed, |_| 1);
    let mut rng = Rng(u64::from(*seed));
    let pieces = serve(stream, *seed, |rest| 1 + rng.below(rest.min(64)));
    same(&whole, &bytewise);
    same(&whole, &pieces);
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Head { method: String, path: String, host: Option<String>, lines: Vec<(Vec<u8>, Vec<u8>)> },
    Body(Vec<u8>),
    Refused,
    Reject,
}

/// Cut or not, the events are the same, but that a hopeless head may be refused before it is complete.
fn same(whole: &[Outcome], cut: &[Outcome]) {
    let whole_alive = whole.strip_suffix(&[Outcome::Reject]).unwrap_or(whole);
    let cut_alive = cut.strip_suffix(&[Outcome::Reject]).unwrap_or(cut);
    assert_eq!(whole_alive, cut_alive);
}

fn serve(stream: &[u8], seed: u8, mut piece: impl FnMut(usize) -> usize) -> Vec<Outcome> {
    let mut machine = Machine::new(limits(seed));
    let (mut buf, mut rest, mut outcomes) = (Vec::new(), stream, Vec::new());
    let mut polls = 0;
    loop {
        polls += 1;
        assert!(polls <= 4 * stream.len() + 4, "the machine makes progress");
        match machine.poll(&mut buf) {
            Event::NeedMore if rest.is_empty() => return outcomes,
            Event::NeedMore => {
                let (now, later) = rest.split_at(piece(rest.len()).min(rest.len()));
                buf.extend_from_slice(now);
                rest = later;
            }
            Event::Head => {
                outcomes.push(head(&machine, &buf));
                let refuse = (outcomes.len() + usize::from(seed)).is_multiple_of(5);
                if !refuse {
                    machine.accept_body();
                    continue;
                }
                outcomes.push(Outcome::Refused);
                let reusable = machine.keeps_alive();
                machine.finish(&mut buf);
                if !reusable {
                    return outcomes;
                }
            }
            Event::Body(range) => {
                assert!(range.start <= range.end && range.end <= buf.len());
                assert!(range.len() <= limits(seed).body_bytes_max);
                outcomes.push(Outcome::Body(buf[range].to_vec()));
                // The caller parses in place: the body's bytes are not ours any more.
                machine.finish(&mut buf);
            }
            Event::Reject(reject) => {
                assert!((400..=505).contains(&reject.status));
                assert_eq!(machine.poll(&mut buf), Event::Reject(reject), "a refusal is final");
                outcomes.push(Outcome::Reject);
                return outcomes;
            }
        }
    }
}

fn head(machine: &Machine, buf: &[u8]) -> Outcome {
    let head = machine.head();
    let spans = [head.method, head.target].into_iter();
    for span in spans.chain(head.headers.iter().flat_map(|line| [line.name, line.value])) {
        assert!(machine.start() <= span.range().start && span.range().end <= buf.len());
    }
    let view = head.view(buf);
    assert!(head.minor == 0 || view.host().is_some());
    for (name, value) in view.iter() {
        assert!(!name.is_empty());
        assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
    }
    Outcome::Head {
        method: view.method().to_owned(),
        path: view.path().to_owned(),
        host: view.host().map(str::to_owned),
        lines: view.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
    }
}

/// Half of the runs have limits that small inputs can reach.
fn limits(seed: u8) -> Limits {
    if seed & 1 == 0 {
        return Limits::default();
    }
    Limits {
        head_bytes_max: 256,
        headers_max: 8,
        body_bytes_max: 64,
        target_bytes_max: 24,
        chunk_line_bytes_max: 16,
        trailer_bytes_max: 32,
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    b"\x00POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
    b"\x01GET /mcp?x=1 HTTP/1.1\r\nHost: [::1]:80\r\n\r\nGET * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\x02POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nA: b\r\n\r\n",
    b"\x03POST http://h/p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
      1\r\n{\r\n1\r\n}\r\n0\r\n\r\nPOST /b HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\nabcGET ",
    b"\x04\r\nOPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\nPOST /c HTTP/1.0\r\nContent-Length: 1\r\n\r\nx",
    b"\x05POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    b"\x06PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x07\x16\x03\x01\x001\x01\x00\x00-\x03\x03",
    b"\x08CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\nPUT / HTTP/1.1\r\nHost: a\r\nX:\t \r\n\r\n",
];

pub(crate) const DICTIONARY: &[&[u8]] = &[
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b"0\r\n\r\n",
    b"ffffffffffffffff",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Host: b\r\n",
    b"Expect: x\r\n",
    b"Connection: close\r\n",
    b" HTTP/1.1\r\n",
    b"HTTP/1.0",
    b"POST /x HTTP/1.1\r\nHost: c\r\n\r\n",
    b";",
    b"#",
    b"http://",
    b"@",
    b"%41",
    b"18446744073709551616",
];
