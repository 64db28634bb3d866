//! The requests: well-formed POSTs of one revision that differ only in their id (and in what a later round adds).

use serde_json::{Value, json};

use crate::url::Url;

/// The revision spoken.
pub(crate) const VERSION: &str = "2026-07-28";

/// The revision of scenario legacy.
pub(crate) const LEGACY_VERSION: &str = "2025-11-25";

/// The methods that repeat a member of their params in `Mcp-Name` [HDR-11].
const NAMED: [(&str, &str); 2] = [("tools/call", "name"), ("resources/read", "uri")];

/// A request in pieces, with its length and its id between them.
#[derive(Debug)]
pub(crate) struct Template {
    /// The head's lines but `Content-Length`.
    head: Vec<u8>,
    /// The body, cut wherever the id goes.
    body: Vec<Vec<u8>>,
    /// Bytes of the body besides the ids.
    body_bytes: usize,
}

/// What of the request is not in every request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra<'a> {
    /// Whole lines of the head, each with its end.
    pub(crate) lines: &'a str,
    /// Members of the params, each with a comma before it.
    pub(crate) members: &'a str,
}

/// Which revision's envelope a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// [`VERSION`], with what the client can do.
    Modern {
        /// Elicitation, sampling and roots, or nothing.
        answers: bool,
        /// Whether progress is asked for, with the id as its token.
        progress: bool,
    },
    /// [`LEGACY_VERSION`]; the header is absent before a version is agreed on.
    Legacy { agreed: bool },
}

/// 2026-07-28 with nothing special.
pub(crate) const MODERN: Era = Era::Modern { answers: false, progress: false };

impl Template {
    /// The request of this method that a run repeats. `params`: an object without `_meta`.
    pub(crate) fn request(url: &Url, era: Era, method: &str, params: &Value) -> Self {
        let meta = match era {
            Era::Modern { answers, .. } => Some(modern_meta(answers)),
            Era::Legacy { .. } => None,
        };
        let progress = matches!(era, Era::Modern { progress: true, .. });
        let mut pieces = vec![r#"{"jsonrpc":"2.0","id":"#.to_owned()];
        let mut rest = format!(r#","method":"{method}","params":{{"#);
        if let Some(meta) = meta {
            rest.push_str(r#""_meta":{"#);
            if progress {
                rest.push_str(r#""progressToken":"#);
                pieces.push(std::mem::replace(&mut rest, ",".to_owned()));
            }
            rest.push_str(inside(&meta.to_string()));
            rest.push('}');
        }
        let params = params.to_string();
        if !rest.ends_with('{') && !inside(&params).is_empty() {
            rest.push(',');
        }
        rest.push_str(inside(&params));
        rest.push_str("}}");
        pieces.push(rest);
        let named = NAMED.iter().find(|(of, _)| *of == method);
        let name = named.and_then(|(_, member)| {
            serde_json::from_str::<Value>(&params).ok()?[member].as_str().map(encoded)
        });
        Self::new(url, &head_lines(era, method, name.as_deref()), pieces)
    }

    /// A notification, which has no id.
    pub(crate) fn notification(url: &Url, era: Era, method: &str) -> Self {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        Self::new(url, &head_lines(era, method, None), vec![body])
    }

    fn new(url: &Url, lines: &str, pieces: Vec<String>) -> Self {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{lines}",
            url.target(),
            url.authority(),
        );
        Self {
            head: head.into_bytes(),
            body_bytes: pieces.iter().map(String::len).sum(),
            body: pieces.into_iter().map(String::into_bytes).collect(),
        }
    }

    /// Bytes of the body besides the ids.
    pub(crate) fn body_bytes(&self) -> usize {
        self.body_bytes
    }

    /// Appends the request with this id; its length in bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>, id: u64, extra: Extra<'_>) -> usize {
        let start = out.len();
        let mut digits = Digits::default();
        let id = digits.of(id);
        let (last, before) = self.body.split_last().expect("a body has a piece");
        let bytes = self.body_bytes + id.len() * before.len() + extra.members.len();
        out.extend_from_slice(&self.head);
        out.extend_from_slice(extra.lines.as_bytes());
        out.extend_from_slice(b"Content-Length: ");
        out.extend_from_slice(Digits::default().of(bytes as u64));
        out.extend_from_slice(b"\r\n\r\n");
        for piece in before {
            out.extend_from_slice(piece);
            out.extend_from_slice(id);
        }
        let params_end = last.len() - 2;
        out.extend_from_slice(&last[..params_end]);
        out.extend_from_slice(extra.members.as_bytes());
        out.extend_from_slice(&last[params_end..]);
        out.len() - start
    }
}

fn head_lines(era: Era, method: &str, name: Option<&str>) -> String {
    match era {
        Era::Legacy { agreed: false } => String::new(),
        Era::Legacy { agreed: true } => format!("MCP-Protocol-Version: {LEGACY_VERSION}\r\n"),
        Era::Modern { .. } => {
            let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
            format!("MCP-Protocol-Version: {VERSION}\r\nMcp-Method: {method}\r\n{name}")
        }
    }
}

fn modern_meta(answers: bool) -> Value {
    let capabilities = if answers {
        json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
    } else {
        json!({})
    };
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Who this client says it is.
pub(crate) fn client_info() -> Value {
    json!({ "name": "ringmcp-loadtest", "version": env!("CARGO_PKG_VERSION") })
}

/// An object's text without its brackets.
fn inside(object: &str) -> &str {
    object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default()
}

/// A name as a header carries it: as it is, or in the Base64 sentinel [PAR-01].
fn encoded(name: &str) -> String {
    let plain = !name.is_empty()
        && name.bytes().all(|b| (0x20..0x7F).contains(&b))
        && name.trim() == name
        && !(name.starts_with("=?base64?") && name.ends_with("?="));
    if plain { name.to_owned() } else { format!("=?base64?{}?=", base64(name.as_bytes())) }
}

/// Standard Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or_default());
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let six = (word >> (18 - 6 * place)) & 63;
            text.push(if place <= three.len() { ALPHABET[six as usize].into() } else { '=' });
        }
    }
    text
}

/// Room for the decimal digits of a number: one is written for every request and compared for every answer.
#[derive(Default)]
pub(crate) struct Digits([u8; 20]);

impl Digits {
    /// The digits of `number`.
    pub(crate) fn of(&mut self, mut number: u64) -> &[u8] {
        let mut at = self.0.len();
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[at..];
            }
        }
    }
}

#[cfg(test)]
mod tests;
