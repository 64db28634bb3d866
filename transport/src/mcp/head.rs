//! The header lines MCP reads, found in one pass over the head (section 3 of the wire rules).
//!
//! Values are as sent, without surrounding spaces and tabs (HDR-16). Whether they are legal and agree
//! with the body is the ladder's to say.

use super::{accept, media_type};
use crate::http::{HeadView, is_named};

/// A header line that should be there at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The first line's value.
    pub value: &'a [u8],
    /// There is more than one line. For a standard MCP header that is a refusal, whether or not the
    /// values agree: nobody but a confused intermediary sends them (HDR-19).
    pub repeated: bool,
}

/// Where the lines are that matter to MCP: what one pass over a head finds, to be looked at again without another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// One behind the first line of each header, in the order of [`slot`]; 0 where there is none.
    first: [u8; SLOTS],
    /// Bit `n`: the header of slot `n` has more than one line.
    repeated: u16,
    has_params: bool,
}

impl Places {
    /// Looks at every header line once. `Head` has at most 128 of them.
    pub fn find(view: HeadView<'_>) -> Places {
        let mut found = Places::default();
        for (at, (name, _)) in view.iter().enumerate() {
            match slot(name) {
                Some(slot) if found.first[slot] == 0 => found.first[slot] = at as u8 + 1,
                Some(slot) => found.repeated |= 1 << slot,
                None => found.has_params |= is_param(name),
            }
        }
        found
    }

    fn field<'a>(&self, view: HeadView<'a>, slot: usize) -> Option<Field<'a>> {
        let at = usize::from(self.first[slot]).checked_sub(1)?;
        Some(Field { value: view.line(at).1, repeated: self.repeated & (1 << slot) != 0 })
    }
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
        StandardHeaders::at(view, &Places::find(view))
    }

    /// The headers of a request, which were found before at these places of the same head.
    pub fn at(view: HeadView<'a>, places: &Places) -> StandardHeaders<'a> {
        let field = |slot| places.field(view, slot);
        StandardHeaders {
            view,
            origin: field(0),
            accept: field(1),
            name: field(2),
            method: field(3),
            content_type: field(4),
            last_event: field(5),
            session: field(6),
            content_encoding: field(7),
            version: field(8),
            has_params: places.has_params,
        }
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
            Some(Field { value: b"application/json", repeated: false }) => true,
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
            // As the protocol asks for it, word for word: nothing to read.
            Some(Field { value: b"application/json, text/event-stream", repeated: false }) => {
                accept::Forms::ANY
            }
            Some(Field { value, repeated: false }) => accept::parse([value]),
            Some(_) => accept::parse(self.view.all("accept")),
        }
    }
}

/// The headers of [`StandardHeaders`] that have a slot of their own in [`Places`].
const SLOTS: usize = 9;

/// The slot of the header called `name`. Lengths tell almost all names apart.
fn slot(name: &[u8]) -> Option<usize> {
    let (found, slot) = match name.len() {
        6 if is_named(name, b"origin") => (true, 0),
        6 => (is_named(name, b"accept"), 1),
        8 => (is_named(name, b"mcp-name"), 2),
        10 => (is_named(name, b"mcp-method"), 3),
        12 => (is_named(name, b"content-type"), 4),
        13 => (is_named(name, b"last-event-id"), 5),
        14 => (is_named(name, b"mcp-session-id"), 6),
        16 => (is_named(name, b"content-encoding"), 7),
        20 => (is_named(name, b"mcp-protocol-version"), 8),
        _ => return None,
    };
    found.then_some(slot)
}

const PARAM: &[u8] = b"mcp-param-";

fn is_param(name: &[u8]) -> bool {
    name.get(..PARAM.len()).is_some_and(|start| start.eq_ignore_ascii_case(PARAM))
}

#[cfg(test)]
mod tests;
