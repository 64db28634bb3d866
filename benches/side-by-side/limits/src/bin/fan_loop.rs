//! The bare fan-out: sends as many bytes to as many sockets, one `send` each, and nothing else.
//!
//! fan_loop --port P --event-bytes N. It speaks as much as the measuring client needs: `subscriptions/listen` puts a
//! connection on the list, a call of `publish` sends N bytes to every one on it, anything else is answered at once.

use std::io::{ErrorKind, Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem::find;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

const LISTENER: Token = Token(usize::MAX);

const ACKNOWLEDGED: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
    34\r\ndata: notifications/subscriptions/acknowledged     \n\r\n\r\n";

fn main() {
    let port: u16 = limits::arg("--port", "8203").parse().expect("--port takes a number");
    let bytes = limits::arg("--event-bytes", "200").parse().expect("--event-bytes takes a number");
    let address = ([127, 0, 0, 1], port).into();
    let mut listener = TcpListener::bind(address).expect("the port is free");
    let mut poll = Poll::new().expect("epoll is there");
    poll.registry()
        .register(&mut listener, LISTENER, Interest::READABLE)
        .expect("epoll takes the listener");
    let mut fan = Fan { connections: Vec::new(), listening: Vec::new(), event: event(bytes) };
    let mut events = Events::with_capacity(1024);
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other.expect("epoll works"),
        }
        for event in &events {
            match event.token() {
                LISTENER => fan.accept(&listener, &poll),
                Token(at) => fan.read(at),
            }
        }
    }
}

/// A chunk that the client counts as one message of either kind.
fn event(bytes: usize) -> Vec<u8> {
    let mut event =
        b"data: notifications/tools/list_changed notifications/resources/updated".to_vec();
    event.resize(bytes.max(event.len() + 2) - 2, b' ');
    event.extend_from_slice(b"\r\n");
    event
}

struct Fan {
    connections: Vec<Option<TcpStream>>,
    listening: Vec<usize>,
    event: Vec<u8>,
}

impl Fan {
    fn accept(&mut self, listener: &TcpListener, poll: &Poll) {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.set_nodelay(true);
            let token = Token(self.connections.len());
            poll.registry()
                .register(&mut stream, token, Interest::READABLE)
                .expect("epoll takes a connection");
            self.connections.push(Some(stream));
        }
    }

    fn read(&mut self, at: usize) {
        let mut chunk = [0; 64 * 1024];
        let Some(stream) = &mut self.connections[at] else { return };
        let read = match stream.read(&mut chunk) {
            Ok(read @ 1..) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            _ => {
                self.connections[at] = None;
                self.listening.retain(|listening| *listening != at);
                return;
            }
        };
        let request = &chunk[..read];
        if find(request, b"subscriptions/listen").is_some() {
            self.listening.push(at);
            let _ = stream.write_all(ACKNOWLEDGED);
            return;
        }
        if find(request, br#""times":1}"#).is_some() {
            self.publish();
        }
        self.answer(at);
    }

    fn publish(&mut self) {
        for at in &self.listening {
            if let Some(stream) = &mut self.connections[*at] {
                assert_eq!(
                    stream.write(&self.event).ok(),
                    Some(self.event.len()),
                    "the readers keep up"
                );
            }
        }
    }

    fn answer(&mut self, at: usize) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{now}"}}]}}}}"#
        );
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if let Some(stream) = &mut self.connections[at] {
            let _ = stream.write_all((head + &body).as_bytes());
        }
    }
}
