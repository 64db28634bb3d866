//! An event stream, read event by event.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

use serde_json::Value;

use super::answer::data_of;
use super::validate;

/// An open event stream.
pub struct Events {
    reader: BufReader<TcpStream>,
    pub head: String,
    pending: String,
    ended: bool,
}

impl Events {
    /// Reads the head; the answer must be a chunked event stream.
    pub fn open(stream: TcpStream) -> Self {
        Self::try_open(stream).unwrap_or_else(|head| panic!("{head}"))
    }

    /// The same, or the head of an answer that does not begin with 200.
    pub fn try_open(stream: TcpStream) -> Result<Self, String> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(
                reader.read_line(&mut head).expect("a head"),
                0,
                "closed in the head: {head}"
            );
        }
        if !head.starts_with("HTTP/1.1 200 ") {
            return Err(head);
        }
        assert!(head.contains("Content-Type: text/event-stream\r\n"), "{head}");
        assert!(head.contains("Transfer-Encoding: chunked\r\n"), "{head}");
        Ok(Self { reader, head, pending: String::new(), ended: false })
    }

    /// The next block, a comment or an event, without its blank line; `None` at the end of the stream.
    pub fn block(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.pending.find("\n\n") {
                let block = self.pending[..at].to_owned();
                self.pending.drain(..at + 2);
                return Some(block);
            }
            if self.ended || !self.chunk() {
                assert_eq!(self.pending, "", "a torn event");
                return None;
            }
        }
    }

    /// The next message, valid by the published schema; comments are skipped. `None` at the end of the stream.
    pub fn next_message(&mut self) -> Option<Value> {
        loop {
            if let Some(data) = data_of(&self.block()?) {
                let message = serde_json::from_str(&data).expect("JSON in an event");
                validate(&message, None);
                return Some(message);
            }
        }
    }

    /// The next message, which must come.
    pub fn message(&mut self) -> Value {
        self.next_message().expect("another message")
    }

    /// Whether the connection, too, has ended.
    pub fn closed(&mut self) -> bool {
        let mut byte = [0];
        matches!(self.reader.read(&mut byte), Ok(0) | Err(_))
    }

    fn chunk(&mut self) -> bool {
        let mut line = String::new();
        if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
            self.ended = true;
            return false;
        }
        let size = usize::from_str_radix(line.trim_end(), 16).expect("a chunk size");
        let mut data = vec![0; size + 2];
        self.reader.read_exact(&mut data).expect("a whole chunk");
        assert_eq!(&data[size..], b"\r\n");
        if size == 0 {
            self.ended = true;
            return false;
        }
        self.pending.push_str(std::str::from_utf8(&data[..size]).expect("UTF-8"));
        true
    }
}
