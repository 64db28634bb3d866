//! Page cursors (ledger 15): opaque, stateless, bound to their list and caller.
//!
//! A cursor seals the last item of the page just sent, twice: its registration sequence number and its
//! key (name or URI). The reader goes on behind the place where that number was or would be, so an insert
//! or a removal, even of the very item, neither repeats nor skips an item that stayed. Replicas agree on
//! the numbers as far as they registered the same things in the same order. The key is not searched for: an
//! item that was removed and added anew has moved to the end, and to go on behind it would skip the rest.
//!
//! ```text
//! b64( 1:1  sequence:8  key:n  tag:16 )    tag = HMAC-SHA256 over method, principal and the rest, cut
//! ```
//!
//! Method and principal are in the tag only. Any key of the ring verifies; the current one seals. The key
//! is readable by the client, who has just been sent it in the page.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac as _;

use crate::state::{Keys, Purpose, TAG_BYTES};

/// Longest cursor that is looked at, in bytes of text (SEC-02).
pub const CURSOR_BYTES_MAX: usize = 4 * 1024;

/// Longest key that is sealed, in bytes. Of an item with a longer one only the sequence is.
pub const KEY_BYTES_MAX: usize = 2 * 1024;

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Registration sequence number of the page's last item.
    pub sequence: u64,
    /// Its name or URI; empty when it is longer than [`KEY_BYTES_MAX`].
    pub key: String,
}

/// What a cursor belongs to (PAG-05).
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The list method.
    pub method: &'a str,
    /// The authenticated principal, `None` for an anonymous caller. Not the same as an empty one.
    pub principal: Option<&'a str>,
}

/// A refused cursor, `-32602` (PAG-03). Prints the same text whatever was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFault {
    /// Longer than [`CURSOR_BYTES_MAX`].
    TooLong,
    /// Empty, no strict unpadded base64url, too short, or of another version.
    Malformed,
    /// The tag does not verify: altered, forged, or of another method, principal or server key.
    Forged,
}

impl fmt::Display for CursorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invalid cursor")
    }
}

impl std::error::Error for CursorFault {}

/// Seals and opens cursors. Cheap to clone; one per server.
#[derive(Debug, Clone)]
pub struct Cursors {
    keys: Arc<Keys>,
}

impl Cursors {
    /// Replicas need the same ring (PAG-05).
    #[must_use]
    pub fn new(keys: Arc<Keys>) -> Cursors {
        Cursors { keys }
    }

    /// The `nextCursor` behind the item (`sequence`, `key`). Never empty (PAG-02).
    #[must_use]
    pub fn seal(&self, scope: &Scope<'_>, sequence: u64, key: &str) -> String {
        let key = if key.len() > KEY_BYTES_MAX { "" } else { key };
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + key.len() + TAG_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&sequence.to_be_bytes());
        bytes.extend_from_slice(key.as_bytes());
        let tag = self.keys.current().short_tag(Purpose::Cursor, &tagged(scope, &bytes));
        bytes.extend_from_slice(&tag);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Where the page that issued `cursor` ended.
    ///
    /// # Errors
    /// [`CursorFault`].
    pub fn open(&self, scope: &Scope<'_>, cursor: &str) -> Result<Position, CursorFault> {
        if cursor.len() > CURSOR_BYTES_MAX {
            return Err(CursorFault::TooLong);
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorFault::Malformed)?;
        let (payload, tag) = bytes.split_last_chunk::<TAG_BYTES>().ok_or(CursorFault::Malformed)?;
        // Constant time (SEC-11); which key of the ring fits is no secret.
        let parts = tagged(scope, payload);
        let verifies = self
            .keys
            .iter()
            .any(|key| key.mac(Purpose::Cursor, &parts).verify_truncated_left(tag).is_ok());
        if !verifies {
            return Err(CursorFault::Forged);
        }
        let Some((&[VERSION], rest)) = payload.split_first_chunk() else {
            return Err(CursorFault::Malformed);
        };
        let (sequence, key) = rest.split_first_chunk().ok_or(CursorFault::Malformed)?;
        let key = std::str::from_utf8(key).map_err(|_| CursorFault::Malformed)?;
        Ok(Position { sequence: u64::from_be_bytes(*sequence), key: key.to_owned() })
    }
}

/// What the tag covers; each part is length-prefixed by the key.
fn tagged<'a>(scope: &Scope<'a>, payload: &'a [u8]) -> [&'a [u8]; 4] {
    let (known, principal): (&[u8], &str) = match scope.principal {
        Some(principal) => (b"principal", principal),
        None => (b"anonymous", ""),
    };
    [scope.method.as_bytes(), known, principal.as_bytes(), payload]
}

const VERSION: u8 = 1;
const PREFIX_BYTES: usize = 1 + 8;

// The longest sealed cursor, 4 characters for 3 bytes, is one that `open` takes.
const _: () =
    assert!((PREFIX_BYTES + KEY_BYTES_MAX + TAG_BYTES).div_ceil(3) * 4 <= CURSOR_BYTES_MAX);
