//! What it costs to send bytes that are already there: answers every request with the next of a few fixed bodies.
//!
//! fixed --port P --bodies FILE,FILE: the n-th request of a connection gets the n-th file, and from the start again.

use monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use monoio::net::{ListenerOpts, TcpListener, TcpStream};

/// Whole answers, heads included.
type Answers = &'static [Vec<u8>];

const BUFFER: usize = 16 * 1024;

fn main() {
    let port: u16 = limits::arg("--port", "8202").parse().expect("--port takes a number");
    let bodies = limits::arg("--bodies", "");
    let answers: Answers = bodies.split(',').map(answer).collect::<Vec<_>>().leak();
    monoio::RuntimeBuilder::<monoio::IoUringDriver>::new()
        .with_entries(1024)
        .build()
        .expect("io_uring is allowed here")
        .block_on(serve(port, answers));
}

fn answer(file: &str) -> Vec<u8> {
    let body = std::fs::read(file).expect("the bodies can be read");
    let mut whole = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\ndate: Mon, 30 Nov 2026 20:11:28 GMT\r\n\r\n",
        body.len()
    )
    .into_bytes();
    whole.extend_from_slice(&body);
    whole
}

async fn serve(port: u16, answers: Answers) {
    let options = ListenerOpts::new().reuse_port(true).reuse_addr(true).backlog(4096);
    let listener =
        TcpListener::bind_with_config(("127.0.0.1", port), &options).expect("the port is free");
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            monoio::spawn(connection(stream, answers));
        }
    }
}

async fn connection(mut stream: TcpStream, answers: Answers) {
    let mut buffer = Vec::with_capacity(BUFFER);
    for answer in answers.iter().cycle() {
        // Requests here are small and not pipelined: one read gets a whole one.
        let (read, full) = stream.read(buffer).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        buffer = full;
        buffer.clear();
        if stream.write_all(answer.as_slice()).await.0.is_err() {
            return;
        }
    }
}
