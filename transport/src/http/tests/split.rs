//! However a stream is cut, the machine reports what a slow reference parser finds in the whole.

use proptest::prelude::*;

use super::{Limits, Request, serve};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// [HTTP-21] [SEC-09] pipelines of valid requests, cut anywhere
    #[test]
    fn cuts_do_not_matter(
        requests in proptest::collection::vec(request(), 1..5),
        cuts in proptest::collection::vec(1usize..80, 1..40),
    ) {
        let stream = requests.concat();
        let expected = reference(&stream);
        prop_assert_eq!(expected.len(), requests.len());
        let mut cuts = cuts.iter().copied().cycle();
        let mut rest = &stream[..];
        let pieces = std::iter::from_fn(|| {
            let at = cuts.next()?.min(rest.len());
            let (piece, later) = rest.split_at(at);
            rest = later;
            (!piece.is_empty()).then_some(piece)
        });
        let (found, reject) = serve(Limits::default(), pieces);
        prop_assert_eq!(reject, None);
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(serve(Limits::default(), [&stream[..]]).0, expected);
    }

    /// [SEC-09] any bytes, cut anywhere: the same requests come out before the end or a refusal
    #[test]
    fn hostile_bytes(stream in hostile(), step in 1usize..40) {
        let whole = serve(Limits::default(), [&stream[..]]);
        let cut = serve(Limits::default(), stream.chunks(step));
        prop_assert_eq!(whole.0, cut.0);
        prop_assert!(cut.1.is_none() || whole.1.is_some());
    }
}

/// One request as bytes.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let headers = proptest::collection::vec(
        ("X-[A-Za-z!#]{1,12}", "[ \t]{0,2}", "([!-~]([ -~\t]{0,20}[!-~])?)?", "[ \t]{0,2}"),
        0..6,
    );
    let body = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200));
    let chunks = proptest::option::of((proptest::collection::vec(1usize..40, 1..5), any::<bool>()));
    ("GET|POST|X-y", "/[a-z/?&=%2F]{0,20}", headers, body, chunks, 0usize..3).prop_map(
        |(method, target, headers, body, chunks, empty_lines)| {
            let mut out = b"\r\n".repeat(empty_lines);
            out.extend_from_slice(format!("{method} {target} HTTP/1.1\r\nHost: a\r\n").as_bytes());
            for (name, before, value, after) in headers {
                out.extend_from_slice(format!("{name}:{before}{value}{after}\r\n").as_bytes());
            }
            match (body, chunks) {
                (None, _) => out.extend_from_slice(b"\r\n"),
                (Some(body), None) => {
                    out.extend_from_slice(
                        format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
                    );
                    out.extend_from_slice(&body);
                }
                (Some(body), Some((sizes, trailer))) => {
                    out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    write_chunks(&mut out, &body, &sizes);
                    out.extend_from_slice(if trailer {
                        b"0;e=f\r\nT: u\r\n\r\n"
                    } else {
                        b"0\r\n\r\n"
                    });
                }
            }
            out
        },
    )
}

fn write_chunks(out: &mut Vec<u8>, mut body: &[u8], sizes: &[usize]) {
    for size in sizes.iter().cycle() {
        if body.is_empty() {
            return;
        }
        let (chunk, rest) = body.split_at((*size).min(body.len()));
        out.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
        body = rest;
    }
}

/// Fragments of requests in any order.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![
        Just(b"POST / HTTP/1.1\r\nHost: a\r\n".to_vec()),
        Just(b"Content-Length: 3\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"3\r\nabc\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
        Just(b"abc".to_vec()),
        Just(b"X: y\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..8),
        request(),
    ];
    proptest::collection::vec(fragment, 0..8).prop_map(|parts| parts.concat())
}

/// Parses a stream of complete valid requests line by line, copying everything.
fn reference(mut stream: &[u8]) -> Vec<Request> {
    let mut requests = Vec::new();
    while !stream.is_empty() {
        let line = take_line(&mut stream);
        if line.is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let mut headers = Vec::new();
        loop {
            let line = take_line(&mut stream);
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        let header = |name: &str| headers.iter().find(|line| line.0 == name).map(|line| &line.1);
        let body = if header("Transfer-Encoding").is_some() {
            take_chunks(&mut stream)
        } else {
            let length = header("Content-Length").map_or(0, |text| text.parse().expect("a number"));
            take(&mut stream, length)
        };
        let (method, target) = (words[0].to_owned(), words[1].to_owned());
        requests.push(Request { method, target, headers, body });
    }
    requests
}

fn take_chunks(stream: &mut &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = take_line(stream);
        let digits = line.split(';').next().expect("split yields something");
        let size = usize::from_str_radix(digits, 16).expect("hexadecimal");
        if size == 0 {
            while !take_line(stream).is_empty() {}
            return body;
        }
        body.extend(take(stream, size));
        take_line(stream);
    }
}

fn take_line(stream: &mut &[u8]) -> String {
    let mut line = take(stream, 2);
    while !line.ends_with(b"\r\n") {
        line.extend(take(stream, 1));
    }
    String::from_utf8(line[..line.len() - 2].to_vec()).expect("generated lines are text")
}

fn take(stream: &mut &[u8], count: usize) -> Vec<u8> {
    let (taken, rest) = stream.split_at(count);
    *stream = rest;
    taken.to_vec()
}
