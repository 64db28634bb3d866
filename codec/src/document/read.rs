//! From the bytes of a body to its tape, in one pass that looks at every byte once and changes none (RFC 8259). What a
//! string is, is `text`; what a number is, is `number`.

use super::JsonError;
use super::node::Node;
use super::number;
use super::text;
use super::unescaped::Unescaped;

/// Why and where the reading ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    /// Bytes of the body from the fault on; those before are known to be UTF-8.
    pub(super) left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    NotUtf8,
    Syntax,
    TooDeep,
    NumberRange,
}

impl Fault {
    /// Not JSON, to be told where `rest` begins.
    pub(super) fn syntax(rest: &[u8]) -> Fault {
        Fault { kind: FaultKind::Syntax, left: rest.len() }
    }

    /// As [`Fault::syntax`], of the byte before `rest`.
    fn before(rest: &[u8]) -> Fault {
        Fault { kind: FaultKind::Syntax, left: rest.len() + 1 }
    }
}

/// The container that is being read, or the document itself.
#[derive(Clone, Copy)]
struct Level {
    /// The place of its node on the tape; [`DOCUMENT`] for the document.
    node: usize,
    /// Its elements or members so far.
    len: usize,
    is_object: bool,
}

/// No node's place.
const DOCUMENT: usize = usize::MAX >> 1;

/// Appends the nodes of the one value that `body` holds. On error they are of no use.
pub(super) fn read<'b>(
    body: &'b [u8],
    depth_max: usize,
    unescaped: &mut Unescaped<'b>,
    nodes: &mut Vec<Node<'b>>,
) -> Result<(), JsonError> {
    values(body, depth_max, unescaped, nodes).map_err(|fault| tell(fault, body))
}

/// The reader: a value, then what stands behind it, until the document's own value has ended.
fn values<'b>(
    body: &'b [u8],
    depth_max: usize,
    unescaped: &mut Unescaped<'b>,
    nodes: &mut Vec<Node<'b>>,
) -> Result<(), Fault> {
    let mut rest = body;
    let mut byte;
    let mut depth = 0;
    let mut level = Level { node: DOCUMENT, len: 0, is_object: false };
    loop {
        if level.is_object {
            (byte, rest) = token(rest);
            if byte != b'"' {
                return Err(Fault::before(rest));
            }
            let name;
            (name, rest) = text::read(rest, unescaped)?;
            nodes.push(Node::String(name));
            (byte, rest) = token(rest);
            if byte != b':' {
                return Err(Fault::before(rest));
            }
        }
        level.len += 1;
        (byte, rest) = token(rest);
        match byte {
            b'"' => {
                let text;
                (text, rest) = text::read(rest, unescaped)?;
                nodes.push(Node::String(text));
            }
            open @ (b'{' | b'[') => {
                depth += 1;
                if depth > depth_max {
                    return Err(Fault { kind: FaultKind::TooDeep, left: rest.len() });
                }
                level = enter(nodes, level, open == b'{');
                // The closing bracket is two behind the opening one, of either kind.
                if token(rest).0 != open + 2 {
                    continue;
                }
            }
            b'-' | b'0'..=b'9' => {
                let number = body.len() - rest.len() - 1;
                rest = number::read(&body[number..], nodes)?;
            }
            b't' => rest = word(rest, b"rue", Node::Bool(true), nodes)?,
            b'f' => rest = word(rest, b"alse", Node::Bool(false), nodes)?,
            b'n' => rest = word(rest, b"ull", Node::Null, nodes)?,
            _ => return Err(Fault::before(rest)),
        }
        loop {
            if level.node == DOCUMENT {
                let behind = behind_space(rest);
                return if behind.is_empty() { Ok(()) } else { Err(Fault::syntax(behind)) };
            }
            (byte, rest) = token(rest);
            if byte == b',' {
                break;
            }
            if byte != if level.is_object { b'}' } else { b']' } {
                return Err(Fault::before(rest));
            }
            depth -= 1;
            level = leave(nodes, level);
        }
    }
}

/// The next byte that is no space, and what stands behind it. At the end it is 0, which no token is.
#[inline(always)]
fn token(rest: &[u8]) -> (u8, &[u8]) {
    match rest {
        [byte, behind @ ..] if *byte > b' ' => (*byte, behind),
        _ => spaced_token(rest),
    }
}

/// As [`token`], where there is space before it: apart, since most messages have none.
#[inline(never)]
fn spaced_token(rest: &[u8]) -> (u8, &[u8]) {
    match behind_space(rest) {
        [byte, behind @ ..] => (*byte, behind),
        [] => (0, &[]),
    }
}

fn behind_space(rest: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let spaces = rest.iter().position(|byte| !is_space(byte));
    &rest[spaces.unwrap_or(rest.len())..]
}

/// Steps over what is left of one of the three words that are values.
#[inline]
fn word<'b, const N: usize>(
    rest: &'b [u8],
    word: &[u8; N],
    node: Node<'b>,
    nodes: &mut Vec<Node<'b>>,
) -> Result<&'b [u8], Fault> {
    match rest.split_first_chunk::<N>() {
        Some((start, behind)) if start == word => {
            nodes.push(node);
            Ok(behind)
        }
        _ => Err(Fault::before(rest)),
    }
}

/// Begins a container. While it is open its node says what is known of the one around it: no stack
/// is needed.
#[inline(always)]
fn enter(nodes: &mut Vec<Node<'_>>, around: Level, is_object: bool) -> Level {
    let node = nodes.len();
    let (len, count) = (around.len, around.node << 1 | usize::from(around.is_object));
    nodes.push(if is_object { Node::Object { len, count } } else { Node::Array { len, count } });
    Level { node, len: 0, is_object }
}

/// Ends a container, and goes on with the one around it.
#[inline(always)]
fn leave(nodes: &mut [Node<'_>], level: Level) -> Level {
    let below = nodes.len() - level.node - 1;
    let Some(Node::Array { len, count } | Node::Object { len, count }) = nodes.get_mut(level.node)
    else {
        return Level { node: DOCUMENT, len: 1, is_object: false };
    };
    let around = Level { node: *count >> 1, len: *len, is_object: *count & 1 == 1 };
    (*len, *count) = (level.len, below);
    around
}

/// The fault as it is told. A body that is not UTF-8 is that above all, wherever else it goes wrong.
#[cold]
fn tell(fault: Fault, body: &[u8]) -> JsonError {
    let at = body.len().saturating_sub(fault.left);
    if std::str::from_utf8(&body[at..]).is_err() {
        return JsonError::NotUtf8;
    }
    match fault.kind {
        FaultKind::NotUtf8 => JsonError::NotUtf8,
        FaultKind::Syntax => JsonError::Syntax { at },
        FaultKind::TooDeep => JsonError::TooDeep,
        FaultKind::NumberRange => JsonError::NumberRange { at },
    }
}
