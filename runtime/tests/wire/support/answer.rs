//! One HTTP answer, read by a straightforward reader of its own.

use std::io::Read;
use std::net::TcpStream;

use serde_json::Value;

use super::validate;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC messages of the body, JSON or events, each valid by the published schema.
    pub fn messages(&self) -> Vec<Value> {
        let messages = match self.header("content-type") {
            Some("application/json") => vec![parse(&self.body)],
            Some("text/event-stream") => {
                let text = std::str::from_utf8(&self.body).expect("UTF-8");
                text.split("\n\n").filter_map(data_of).map(|data| parse(data.as_bytes())).collect()
            }
            other => panic!("no messages in {other:?}: {self:?}"),
        };
        messages.iter().for_each(|message| validate(message, None));
        messages
    }

    /// The response: the last message.
    pub fn message(&self) -> Value {
        self.messages().pop().expect("at least one message")
    }

    /// The result, valid for the method by the published schema.
    pub fn result(&self, method: &str) -> Value {
        let message = self.message();
        assert!(message.get("error").is_none(), "an error: {message}");
        validate(&message, Some(method));
        message["result"].clone()
    }

    /// The error: code, with the status it came at.
    pub fn error(&self) -> (u16, i64) {
        let message = self.message();
        let code = message["error"]["code"].as_i64();
        (self.status, code.unwrap_or_else(|| panic!("no error: {message}")))
    }

    /// The error's whole object.
    pub fn error_object(&self) -> Value {
        self.message()["error"].clone()
    }

    /// The text of a tool result's first block.
    pub fn text(&self) -> String {
        let result = self.result("tools/call");
        result["content"][0]["text"].as_str().expect("a text block").to_owned()
    }
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(bytes)))
}

/// The data of one event; `None` for comments and the empty tail.
pub fn data_of(event: &str) -> Option<String> {
    let lines: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The next final answer on the connection; `None` when it closes without one.
pub fn read_answer(stream: &mut TcpStream) -> Option<Answer> {
    let mut reader = Reader { stream };
    loop {
        let head = reader.head()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if status < 200 {
            continue;
        }
        let find = |name: &str| {
            headers
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, v)| v.clone())
        };
        let body = if status == 204 {
            Vec::new()
        } else if let Some(length) = find("content-length") {
            reader.exactly(length.parse().expect("a number"))
        } else if find("transfer-encoding").is_some() {
            reader.chunked()
        } else {
            reader.rest()
        };
        return Some(Answer { status, headers, body });
    }
}

/// Reads byte by byte: slow, and never beyond the answer.
struct Reader<'s> {
    stream: &'s mut TcpStream,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        loop {
            return match self.stream.read(&mut byte) {
                Ok(1) => Some(byte[0]),
                Ok(_) => None,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
                Err(error) => panic!("no answer: {error}"),
            };
        }
    }

    fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.byte()?);
        }
        head.truncate(head.len() - 4);
        Some(String::from_utf8(head).expect("an ASCII head"))
    }

    fn exactly(&mut self, bytes: usize) -> Vec<u8> {
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).expect("the whole body");
        body
    }

    fn chunked(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.push(self.byte().expect("a chunk size"));
            }
            let size = std::str::from_utf8(&line).expect("ASCII").trim_end();
            let size = usize::from_str_radix(size, 16).expect("a chunk size");
            body.extend(self.exactly(size));
            assert_eq!(self.exactly(2), b"\r\n");
            if size == 0 {
                return body;
            }
        }
    }

    fn rest(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        self.stream.read_to_end(&mut body).expect("the body");
        body
    }
}
