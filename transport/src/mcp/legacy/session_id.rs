//! The name of a session: the core it lives on, and a secret nobody can guess (LEG-60, SEC-10).

use std::fmt;

/// Random bytes in a session's id: 160 bits.
pub const SECRET_BYTES: usize = 20;

/// `Mcp-Session-Id` as this server writes it: the core in hexadecimal, a dot, the secret in hexadecimal. The core is no
/// secret: it only says where to look.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId {
    /// The core that holds the session.
    pub core: u16,
    /// From the system's generator.
    pub secret: [u8; SECRET_BYTES],
}

impl SessionId {
    /// Reads an id; `None` for anything that [`fmt::Display`] does not write.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<SessionId> {
        let dot = text.iter().position(|byte| *byte == b'.')?;
        let (core, secret) = (&text[..dot], &text[dot + 1..]);
        if core.len() != 4 || secret.len() != 2 * SECRET_BYTES {
            return None;
        }
        let mut id = SessionId { core: 0, secret: [0; SECRET_BYTES] };
        for digit in core {
            id.core = id.core << 4 | u16::from(hex(*digit)?);
        }
        for (byte, pair) in id.secret.iter_mut().zip(secret.chunks_exact(2)) {
            *byte = hex(pair[0])? << 4 | hex(pair[1])?;
        }
        Some(id)
    }
}

/// Lower case only: one id has one spelling.
fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}.", self.core)?;
        self.secret.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whoever has the secret has the session: it does not get into a log (SEC-05).
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionId").field("core", &self.core).finish_non_exhaustive()
    }
}
