//! The key ring: one current key that seals, older ones that only verify, so keys rotate without
//! rejecting states in flight. Key material is wiped when a ring is dropped.

use std::fmt;

use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;

/// Least length of a secret, in bytes (RS-06).
pub const KEY_BYTES_MIN: usize = 32;

/// Longest key id, in bytes.
pub const KEY_ID_BYTES_MAX: usize = 32;

/// Most keys in a ring: a cursor names no key, so each is tried.
pub const KEYS_MAX: usize = 8;

/// Length of a truncated tag, in bytes: 128 bits.
pub(crate) const TAG_BYTES: usize = 16;

/// Why a key is refused at start-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFault {
    /// Fewer than [`KEY_BYTES_MIN`] bytes.
    TooShort,
    /// An id that is empty, over [`KEY_ID_BYTES_MAX`], or not of `A-Z a-z 0-9 _ -`.
    BadId,
    /// An id that the ring has already.
    DuplicateId,
    /// More than [`KEYS_MAX`] keys.
    TooMany,
    /// The operating system gave no random bytes.
    NoRandomness,
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyFault::TooShort => "key has fewer than 32 bytes",
            KeyFault::BadId => "key id must be 1 to 32 of A-Z a-z 0-9 _ -",
            KeyFault::DuplicateId => "key id is used twice",
            KeyFault::TooMany => "more than 8 keys",
            KeyFault::NoRandomness => "the operating system gave no random bytes",
        })
    }
}

impl std::error::Error for KeyFault {}

/// A ring of server secrets. Replicas that serve the same clients need the same ring (RS-09).
pub struct Keys {
    /// The first one is current. Never empty.
    ring: Vec<Key>,
}

impl Keys {
    /// A ring of one key. `id` is public, it travels in every state; `secret` is at least
    /// [`KEY_BYTES_MIN`] bytes from a CSPRNG, and the caller wipes its own copy.
    ///
    /// # Errors
    /// [`KeyFault::TooShort`], [`KeyFault::BadId`].
    pub fn new(id: &str, secret: &[u8]) -> Result<Keys, KeyFault> {
        Ok(Keys { ring: vec![Key::new(id, secret)?] })
    }

    /// A ring of one random key: good for one process, and rejects every state of another (RS-09).
    ///
    /// # Errors
    /// [`KeyFault::NoRandomness`].
    pub fn random() -> Result<Keys, KeyFault> {
        let mut bytes = [0; KEY_BYTES_MIN + 4];
        getrandom::fill(&mut bytes).map_err(|_| KeyFault::NoRandomness)?;
        let (secret, name) = bytes.split_at(KEY_BYTES_MIN);
        // A fresh name lets a log tell a state of an earlier process from a forged one.
        let name = name.iter().fold(0, |name: u32, byte| name << 8 | u32::from(*byte));
        Keys::new(&format!("random-{name:08x}"), secret)
    }

    /// Adds an older key that verifies and no longer seals (RS-06).
    ///
    /// # Errors
    /// [`KeyFault`].
    pub fn with_old(mut self, id: &str, secret: &[u8]) -> Result<Keys, KeyFault> {
        if self.ring.len() == KEYS_MAX {
            return Err(KeyFault::TooMany);
        }
        if self.find(id).is_some() {
            return Err(KeyFault::DuplicateId);
        }
        self.ring.push(Key::new(id, secret)?);
        Ok(self)
    }

    /// The id of the key that seals.
    #[must_use]
    pub fn current_id(&self) -> &str {
        &self.current().id
    }

    pub(crate) fn current(&self) -> &Key {
        self.ring.first().expect("a ring is built with its first key and never shrinks")
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Key> {
        // Ids are public, so an early exit tells nothing.
        self.ring.iter().find(|key| key.id == id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Key> {
        self.ring.iter()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ring.iter().map(|key| &key.id)).finish()
    }
}

/// One secret, held as ready key schedules.
pub(crate) struct Key {
    pub(crate) id: String,
    mac: Hmac<Sha256>,
    pub(crate) cipher: XChaCha20Poly1305,
}

impl Key {
    fn new(id: &str, secret: &[u8]) -> Result<Key, KeyFault> {
        if !is_key_id(id) {
            return Err(KeyFault::BadId);
        }
        if secret.len() < KEY_BYTES_MIN {
            return Err(KeyFault::TooShort);
        }
        let mac = Hmac::new_from_slice(secret).expect("HMAC takes a key of any length");
        let derived = purpose_mac(&mac, Purpose::CipherKey).finalize().into_bytes();
        Ok(Key { id: id.to_owned(), mac, cipher: XChaCha20Poly1305::new(&derived) })
    }

    /// Starts a tag for one purpose over length-prefixed `parts`.
    pub(crate) fn mac(&self, purpose: Purpose, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = purpose_mac(&self.mac, purpose);
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }

    /// The first [`TAG_BYTES`] of the tag.
    pub(crate) fn short_tag(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
        let full = self.mac(purpose, parts).finalize().into_bytes();
        let mut short = [0; TAG_BYTES];
        short.copy_from_slice(&full[..TAG_BYTES]);
        short
    }
}

/// What a tag is for; each use of the one secret starts with its own label, so no tag of one use
/// verifies as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    CipherKey,
    Cursor,
    State,
    StateMethod,
    StatePrincipal,
    StateTarget,
}

pub(super) fn is_key_id(id: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=KEY_ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(legal)
}

fn purpose_mac(mac: &Hmac<Sha256>, purpose: Purpose) -> Hmac<Sha256> {
    // Fixed length, so a label can never run into what follows.
    let label: &[u8; 24] = match purpose {
        Purpose::CipherKey => b"ringmcp.v1.cipher-key...",
        Purpose::Cursor => b"ringmcp.v1.cursor.......",
        Purpose::State => b"ringmcp.v1.state........",
        Purpose::StateMethod => b"ringmcp.v1.state-method.",
        Purpose::StatePrincipal => b"ringmcp.v1.state-caller.",
        Purpose::StateTarget => b"ringmcp.v1.state-target.",
    };
    let mut mac = mac.clone();
    mac.update(label);
    mac
}
