//! The bytes of a subscription: its acknowledgement, its notifications and its closing result, each tagged with
//! the listen request's id (LEDGER SUB-03, SUB-04), wrapped for the channel they travel on.

use codec::id::OwnedId;
use codec::write;

use super::topic::{Kind, Kinds, RESOURCE_METHOD, Topic, Topics};

/// How one message is set apart from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// A server-sent event (HTTP).
    Event,
    /// A line.
    Line,
}

impl Envelope {
    /// Writes one message; `json` writes one line of JSON.
    pub(crate) fn wrap(self, out: &mut Vec<u8>, json: impl FnOnce(&mut Vec<u8>)) {
        match self {
            Envelope::Event => {
                out.extend_from_slice(b"event: message\ndata: ");
                json(out);
                out.extend_from_slice(b"\n\n");
            }
            Envelope::Line => {
                json(out);
                out.push(b'\n');
            }
        }
    }
}

/// `notifications/subscriptions/acknowledged` with what is honoured: false and empty fields are left out.
pub(crate) fn acknowledged<'k>(
    out: &mut Vec<u8>,
    id: &OwnedId,
    kinds: &Kinds,
    topics: Topics,
    keys: impl Iterator<Item = (Kind, &'k str)> + Clone,
) {
    open(out, "notifications/subscriptions/acknowledged", id);
    out.extend_from_slice(br#","notifications":{"#);
    let mut first = true;
    let mut member = |out: &mut Vec<u8>, name: &str| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write::string(out, name);
        out.push(b':');
    };
    for topic in topics.iter() {
        member(out, topic.field());
        out.extend_from_slice(b"true");
    }
    for kind in kinds.iter() {
        let mut of_kind = keys.clone().filter(|(of, _)| *of == kind).peekable();
        if of_kind.peek().is_none() {
            continue;
        }
        member(out, kinds.field(kind));
        out.push(b'[');
        for (at, (_, key)) in of_kind.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write::string(out, key);
        }
        out.push(b']');
    }
    out.extend_from_slice(b"}}}");
}

/// `notifications/tools/list_changed` and its kin. They have no params of their own: the object is there for
/// the tag.
pub(crate) fn list_changed(out: &mut Vec<u8>, id: &OwnedId, topic: Topic) {
    open(out, topic.method(), id);
    out.extend_from_slice(b"}}");
}

/// `notifications/resources/updated`.
pub(crate) fn updated(out: &mut Vec<u8>, id: &OwnedId, uri: &str) {
    open(out, RESOURCE_METHOD, id);
    out.extend_from_slice(br#","uri":"#);
    write::string(out, uri);
    out.extend_from_slice(b"}}");
}

/// An extension's notification; `members` is empty or starts with a comma.
pub(crate) fn extension(out: &mut Vec<u8>, id: &OwnedId, method: &str, members: &str) {
    open(out, method, id);
    out.extend_from_slice(members.as_bytes());
    out.extend_from_slice(b"}}");
}

/// The result that ends a listen from the server's side; `server_info` is a JSON object. LEDGER SUB-14.
pub(crate) fn closing(out: &mut Vec<u8>, id: &OwnedId, server_info: Option<&str>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#","result":{"resultType":"complete","_meta":{"#);
    out.extend_from_slice(TAG);
    id.write(out);
    if let Some(info) = server_info {
        out.extend_from_slice(br#","io.modelcontextprotocol/serverInfo":"#);
        out.extend_from_slice(info.as_bytes());
    }
    out.extend_from_slice(b"}}}");
}

const TAG: &[u8] = br#""io.modelcontextprotocol/subscriptionId":"#;

/// Up to the end of `_meta`; `params` stays open.
fn open(out: &mut Vec<u8>, method: &str, id: &OwnedId) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    write::string(out, method);
    out.extend_from_slice(br#","params":{"_meta":{"#);
    out.extend_from_slice(TAG);
    id.write(out);
    out.push(b'}');
}
