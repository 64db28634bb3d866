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

/// The headers that matter to MCP, each read where it lies when it is asked for; `None` is a header that is absent.
#[derive(Clone, Copy, Debug)]
pub struct StandardHeaders<'a> {
    view: HeadView<'a>,
    places: Places,
}

impl<'a> StandardHeaders<'a> {
    /// Looks for the headers of a request.
    pub fn collect(view: HeadView<'a>) -> StandardHeaders<'a> {
        StandardHeaders::at(view, &Places::find(view))
    }

    /// The headers of a request, which were found before at these places of the same head.
    pub fn at(view: HeadView<'a>, places: &Places) -> StandardHeaders<'a> {
        StandardHeaders { view, places: *places }
    }

    /// `Origin` (HTTP-02).
    pub fn origin(&self) -> Option<Field<'a>> {
        self.places.field(self.view, ORIGIN)
    }

    /// `Accept`; see [`StandardHeaders::accepted_forms`].
    pub fn accept(&self) -> Option<Field<'a>> {
        self.places.field(self.view, ACCEPT)
    }

    /// `Mcp-Name` (HDR-11).
    pub fn name(&self) -> Option<Field<'a>> {
        self.places.field(self.view, NAME)
    }

    /// `Mcp-Method` (HDR-10).
    pub fn method(&self) -> Option<Field<'a>> {
        self.places.field(self.view, METHOD)
    }

    /// `Content-Type`; see [`StandardHeaders::has_json_content`].
    pub fn content_type(&self) -> Option<Field<'a>> {
        self.places.field(self.view, CONTENT_TYPE)
    }

    /// `Last-Event-ID`: ignored outside sessions (HTTP-14).
    pub fn last_event(&self) -> Option<Field<'a>> {
        self.places.field(self.view, LAST_EVENT)
    }

    /// `Mcp-Session-Id`: legacy only, ignored otherwise (HTTP-13).
    pub fn session(&self) -> Option<Field<'a>> {
        self.places.field(self.view, SESSION)
    }

    /// `Content-Encoding`; see [`StandardHeaders::has_plain_content`].
    pub fn content_encoding(&self) -> Option<Field<'a>> {
        self.places.field(self.view, CONTENT_ENCODING)
    }

    /// `MCP-Protocol-Version` (HDR-01).
    pub fn version(&self) -> Option<Field<'a>> {
        self.places.field(self.view, VERSION)
    }

    /// Whether some line's name starts with `Mcp-Param-` (PAR-06).
    pub fn has_params(&self) -> bool {
        self.places.has_params
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
        let lines = self.has_params().then(|| self.view.iter()).into_iter().flatten();
        lines.filter(|(name, _)| is_param(name)).map(|(name, value)| (&name[PARAM.len()..], value))
    }

    /// Rung 4, first half: whether the content is JSON (HTTP-15). 415 otherwise.
    pub fn has_json_content(&self) -> bool {
        match self.content_type() {
            Some(Field { value: b"application/json", repeated: false }) => true,
            Some(Field { value, repeated: false }) => media_type::is_json([value]),
            _ => false,
        }
    }

    /// Rung 4, second half: whether the content is sent as it is (HTTP-22). 415 otherwise.
    pub fn has_plain_content(&self) -> bool {
        self.content_encoding().is_none()
            || media_type::is_identity(self.view.all("content-encoding"))
    }

    /// The answer forms the client accepts (HTTP-16). 406 if there are none.
    pub fn accepted_forms(&self) -> accept::Forms {
        match self.accept() {
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

const ORIGIN: usize = 0;
const ACCEPT: usize = 1;
const NAME: usize = 2;
const METHOD: usize = 3;
const CONTENT_TYPE: usize = 4;
const LAST_EVENT: usize = 5;
const SESSION: usize = 6;
const CONTENT_ENCODING: usize = 7;
const VERSION: usize = 8;

/// The slot of the header called `name`. Lengths tell almost all names apart.
fn slot(name: &[u8]) -> Option<usize> {
    let (found, slot) = match name.len() {
        6 if is_named(name, b"origin") => (true, ORIGIN),
        6 => (is_named(name, b"accept"), ACCEPT),
        8 => (is_named(name, b"mcp-name"), NAME),
        10 => (is_named(name, b"mcp-method"), METHOD),
        12 => (is_named(name, b"content-type"), CONTENT_TYPE),
        13 => (is_named(name, b"last-event-id"), LAST_EVENT),
        14 => (is_named(name, b"mcp-session-id"), SESSION),
        16 => (is_named(name, b"content-encoding"), CONTENT_ENCODING),
        20 => (is_named(name, b"mcp-protocol-version"), VERSION),
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
