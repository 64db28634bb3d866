//! Tests of the HTTP room: one table a kind, and a slow reference parser beside the machine.

mod accepted;
mod chunks;
mod flow;
mod limits;
mod probes;
mod refused;
mod respond;
mod split;

use super::{Event, Framing, Limits, Machine, Reject};

/// One request as the machine reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Feeds a stream in the given pieces, accepting every body. The refusal, if any, comes last.
fn serve<'a>(
    limits: Limits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Request>, Option<Reject>) {
    let mut machine = Machine::new(limits);
    let (mut buf, mut pieces, mut requests) = (Vec::new(), pieces.into_iter(), Vec::new());
    let mut head = None;
    loop {
        match machine.poll(&mut buf) {
            Event::NeedMore => match pieces.next() {
                Some(piece) => buf.extend_from_slice(piece),
                None => return (requests, None),
            },
            Event::Head => {
                head = Some(request(&machine, &buf));
                machine.accept_body();
            }
            Event::Body(range) => {
                let mut request = head.take().expect("a body follows its head");
                request.body = buf[range].to_vec();
                requests.push(request);
                machine.finish(&mut buf);
            }
            Event::Reject(reject) => return (requests, Some(reject)),
        }
    }
}

fn request(machine: &Machine, buf: &[u8]) -> Request {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let view = machine.head().view(buf);
    Request {
        method: view.method().to_owned(),
        target: view.target().to_owned(),
        headers: view.iter().map(|(name, value)| (text(name), text(value))).collect(),
        body: Vec::new(),
    }
}

/// The head of a stream that holds one.
fn head_of(stream: &[u8]) -> Result<(Machine, Vec<u8>), Reject> {
    let mut machine = Machine::new(Limits::default());
    let mut buf = stream.to_vec();
    match machine.poll(&mut buf) {
        Event::Head => Ok((machine, buf)),
        Event::Reject(reject) => Err(reject),
        other => panic!("no complete head: {other:?} in {}", stream.escape_ascii()),
    }
}

/// The status a stream is refused with, fed whole and byte by byte; both must agree.
fn status_of(limits: Limits, stream: &[u8]) -> Option<u16> {
    let whole = serve(limits, [stream]).1.map(|reject| reject.status);
    let bytewise = serve(limits, stream.chunks(1)).1.map(|reject| reject.status);
    assert_eq!(whole, bytewise, "{}", stream.escape_ascii());
    whole
}
