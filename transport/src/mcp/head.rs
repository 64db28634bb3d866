//! The header lines MCP reads, found in one pass over the head (section 3 of the wire rules).
//!
//! Values are as sent, without surrounding spaces and tabs (HDR-16). Whether they are legal and agree
//! with the body is the ladder's to say.

use super::{accept, media_type};
use crate::http::HeadView;

/// A header line that should be there at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The first line's value.
    pub value: &'a [u8],
    /// There is more than one line. For a standard MCP header that is a refusal, whether or not the
    /// values agree: nobody but a confused intermediary sends them (HDR-19).
    pub repeated: bool,
}

/// The headers that matter to MCP; `None` is a header that is absent.
#[derive(Clone, Copy, Debug)]
pub struct StandardHeaders<'a> {
    view: HeadView<'a>,
    /// `MCP-Protocol-Version` (HDR-01).
    pub version: Option<Field<'a>>,
    /// `Mcp-Method` (HDR-10).
    pub method: Option<Field<'a>>,
    /// `Mcp-Name` (HDR-11).
    pub name: Option<Field<'a>>,
    /// `Mcp-Session-Id`: legacy only, ignored otherwise (HTTP-13).
    pub session: Option<Field<'a>>,
    /// `Last-Event-ID`: ignored (HTTP-14).
    pub last_event: Option<Field<'a>>,
    /// `Authorization`; several lines are malformed credentials.
    pub authorization: Option<Field<'a>>,
    /// `Origin` (HTTP-02).
    pub origin: Option<Field<'a>>,
    /// `Content-Type`; see [`StandardHeaders::has_json_content`].
    pub content_type: Option<Field<'a>>,
    /// `Content-Encoding`; see [`StandardHeaders::has_plain_content`].
    pub content_encoding: Option<Field<'a>>,
    /// `Accept`; see [`StandardHeaders::accepted_forms`].
    pub accept: Option<Field<'a>>,
    /// Whether some line's name starts with `Mcp-Param-` (PAR-06).
    pub has_params: bool,
}

impl<'a> StandardHeaders<'a> {
    /// Collects the headers of a request.
    pub fn collect(view: HeadView<'a>) -> StandardHeaders<'a> {
        let mut found = StandardHeaders {
            view,
            version: None,
            method: None,
            name: None,
            session: None,
            last_event: None,
            authorization: None,
            origin: None,
            content_type: None,
            content_encoding: None,
            accept: None,
            has_params: false,
        };
        for (name, value) in view.iter() {
            if let Some(slot) = found.slot(name) {
                match slot {
                    None => *slot = Some(Field { value, repeated: false }),
                    Some(field) => field.repeated = true,
                }
            } else if is_param(name) {
                found.has_params = true;
            }
        }
        found
    }

    /// The head all this was found in.
    pub fn view(&self) -> HeadView<'a> {
        self.view
    }

    /// The header line `Mcp-Param-{name}`, `name` in any case (PAR-12).
    pub fn param(&self, name: &str) -> Option<Field<'a>> {
        let mut lines = self
            .params()
            .filter(|(line, _)| line.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value);
        let value = lines.next()?;
        Some(Field { value, repeated: lines.next().is_some() })
    }

    /// All `Mcp-Param-*` lines in order: the rest of the name, as sent, and the value.
    pub fn params(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let lines = self.has_params.then(|| self.view.iter()).into_iter().flatten();
        lines.filter(|(name, _)| is_param(name)).map(|(name, value)| (&name[PARAM.len()..], value))
    }

    /// Rung 4, first half: whether the content is JSON (HTTP-15). 415 otherwise.
    pub fn has_json_content(&self) -> bool {
        match self.content_type {
            Some(Field { value, repeated: false }) => media_type::is_json([value]),
            _ => false,
        }
    }

    /// Rung 4, second half: whether the content is sent as it is (HTTP-22). 415 otherwise.
    pub fn has_plain_content(&self) -> bool {
        self.content_encoding.is_none()
            || media_type::is_identity(self.view.all("content-encoding"))
    }

    /// The answer forms the client accepts (HTTP-16). 406 if there are none.
    pub fn accepted_forms(&self) -> accept::Forms {
        match self.accept {
            None => accept::Forms::ANY,
            Some(Field { value, repeated: false }) => accept::parse([value]),
            Some(_) => accept::parse(self.view.all("accept")),
        }
    }

    /// Where the value of a header called `name` goes. Lengths tell almost all names apart.
    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<Field<'a>>> {
        let (expected, slot): (&[u8], _) = match name.len() {
            6 if name[0] | 0x20 == b'o' => (b"origin", &mut self.origin),
            6 => (b"accept", &mut self.accept),
            8 => (b"mcp-name", &mut self.name),
            10 => (b"mcp-method", &mut self.method),
            12 => (b"content-type", &mut self.content_type),
            13 if name[0] | 0x20 == b'l' => (b"last-event-id", &mut self.last_event),
            13 => (b"authorization", &mut self.authorization),
            14 => (b"mcp-session-id", &mut self.session),
            16 => (b"content-encoding", &mut self.content_encoding),
            20 => (b"mcp-protocol-version", &mut self.version),
            _ => return None,
        };
        name.eq_ignore_ascii_case(expected).then_some(slot)
    }
}

const PARAM: &[u8] = b"mcp-param-";

fn is_param(name: &[u8]) -> bool {
    name.get(..PARAM.len()).is_some_and(|start| start.eq_ignore_ascii_case(PARAM))
}

#[cfg(test)]
mod tests;
