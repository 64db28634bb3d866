//! The sealed form of a state:
//!
//! ```text
//! signed     v1.s.KEYID.b64(body).b64(tag)        tag = HMAC-SHA256 over everything before it
//! encrypted  v1.e.KEYID.b64(nonce ciphertext)     XChaCha20-Poly1305, "v1.e.KEYID" as additional data
//! body       expires:8  id:16  principal:16  method:16  target:16  state
//! ```
//!
//! `b64` is strict unpadded base64url, `expires` big-endian unix seconds, `id` random. The three
//! bindings are keyed tags rather than plain hashes: a signed body is readable, and a guessable principal
//! must not be checkable by whoever sees it.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::XNonce;
use chacha20poly1305::aead::{Aead as _, Payload};
use hmac::Mac as _;

use super::keys::{Key, Keys, Purpose, TAG_BYTES};

/// Longest sealed state, in bytes of text, both ways (SEC-02, RS-06).
pub const STATE_BYTES_MAX: usize = 16 * 1024;

/// Default life of a state, in seconds (RS-04).
pub const TTL_SECS: u64 = 600;

/// Whether a client can read the state it carries. It can alter neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protection {
    /// HMAC-SHA-256: signed, readable. The client and anyone on its side can read the state, so no
    /// secrets in it (RS-10).
    #[default]
    SignedReadable,
    /// XChaCha20-Poly1305 with a random nonce: encrypted and signed.
    Encrypted,
}

/// What a state belongs to; all of it must be the same on the retry (RS-04).
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The authenticated principal, `None` for an anonymous caller. Not the same as an empty one.
    pub principal: Option<&'a str>,
    /// The request's method.
    pub method: &'a str,
    /// [`digest`](super::digest()) of method, name or URI, and arguments.
    pub target: [u8; 32],
}

/// A state that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// What the handler sealed.
    pub state: Vec<u8>,
    /// Names this one issue of a state, for a store that allows each only once (RS-05). Random.
    pub id: [u8; ID_BYTES],
    /// Unix seconds from which the state is refused: a replay store may forget `id` then.
    pub expires: u64,
}

/// Why a state could not be sealed: the server's own fault, `-32603`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealFault {
    /// The sealed text would exceed [`STATE_BYTES_MAX`].
    TooLarge,
    /// The operating system gave no random bytes.
    NoRandomness,
}

impl fmt::Display for SealFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SealFault::TooLarge => "requestState exceeds 16 KiB when sealed",
            SealFault::NoRandomness => "the operating system gave no random bytes",
        })
    }
}

impl std::error::Error for SealFault {}

/// A refused state. It prints the same text whatever was wrong (RS-03, RS-07).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StateFault(Cause);

impl StateFault {
    /// Which check failed: for the server's log, never for the client.
    #[must_use]
    pub fn cause(self) -> Cause {
        self.0
    }
}

impl fmt::Display for StateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invalid or expired requestState")
    }
}

impl fmt::Debug for StateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateFault")
    }
}

impl std::error::Error for StateFault {}

/// The check that a refused state failed, in checking order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Longer than [`STATE_BYTES_MAX`].
    TooLong,
    /// Not of the form in this file's opening.
    Malformed,
    /// Sealed under a key that this ring does not hold: another server, or a retired key.
    UnknownKey,
    /// The tag does not verify: altered or forged.
    Tampered,
    /// Issued to another principal.
    Principal,
    /// Issued by another method.
    Method,
    /// Issued for another name, URI or other arguments.
    Target,
    /// Its time is over.
    Expired,
}

/// Seals and opens states. Cheap to clone; one per server.
#[derive(Debug, Clone)]
pub struct Codec {
    keys: Arc<Keys>,
    protection: Protection,
    ttl_secs: u64,
}

impl Codec {
    /// A codec with the default life of [`TTL_SECS`].
    #[must_use]
    pub fn new(keys: Arc<Keys>, protection: Protection) -> Codec {
        Codec { keys, protection, ttl_secs: TTL_SECS }
    }

    /// The same codec with another life of a state, in seconds.
    #[must_use]
    pub fn with_ttl_secs(mut self, ttl_secs: u64) -> Codec {
        self.ttl_secs = ttl_secs;
        self
    }

    /// Seals `state` until `now` (unix seconds) plus the codec's life.
    ///
    /// # Errors
    /// [`SealFault`].
    pub fn seal(&self, state: &[u8], binding: &Binding<'_>, now: u64) -> Result<String, SealFault> {
        // Refused before the copy below; the exact check is on the sealed text.
        if state.len() > STATE_BYTES_MAX {
            return Err(SealFault::TooLarge);
        }
        let mut random = [0; ID_BYTES + NONCE_BYTES];
        getrandom::fill(&mut random).map_err(|_| SealFault::NoRandomness)?;
        self.seal_with(state, binding, now.saturating_add(self.ttl_secs), &random)
    }

    /// Verifies a state that a client sent; both protections are accepted, so changing the setting does
    /// not refuse states in flight. `now` is unix seconds.
    ///
    /// # Errors
    /// [`StateFault`].
    pub fn open(
        &self,
        sealed: &str,
        binding: &Binding<'_>,
        now: u64,
    ) -> Result<Opened, StateFault> {
        let (key, body) = self.unseal(sealed).map_err(StateFault)?;
        check_body(key, body, binding, now).map_err(StateFault)
    }

    /// [`Codec::seal`] with its randomness given: id, then nonce.
    pub(super) fn seal_with(
        &self,
        state: &[u8],
        binding: &Binding<'_>,
        expires: u64,
        random: &[u8; ID_BYTES + NONCE_BYTES],
    ) -> Result<String, SealFault> {
        let key = self.keys.current();
        let (id, nonce) = random.split_at(ID_BYTES);
        let mut body = Vec::with_capacity(HEADER_BYTES + state.len());
        body.extend_from_slice(&expires.to_be_bytes());
        body.extend_from_slice(id);
        body.extend(bindings(key, binding).as_flattened());
        body.extend_from_slice(state);

        let mut sealed = match self.protection {
            Protection::SignedReadable => format!("{SIGNED}{}", key.id),
            Protection::Encrypted => format!("{ENCRYPTED}{}", key.id),
        };
        match self.protection {
            Protection::SignedReadable => {
                sealed.push('.');
                URL_SAFE_NO_PAD.encode_string(&body, &mut sealed);
                let tag = key.mac(Purpose::State, &[sealed.as_bytes()]).finalize().into_bytes();
                sealed.push('.');
                URL_SAFE_NO_PAD.encode_string(tag, &mut sealed);
            }
            Protection::Encrypted => {
                let payload = Payload { msg: &body, aad: sealed.as_bytes() };
                // The cipher's only error is a message beyond 256 GiB.
                let ciphertext =
                    key.cipher.encrypt(&xnonce(nonce), payload).map_err(|_| SealFault::TooLarge)?;
                sealed.push('.');
                URL_SAFE_NO_PAD.encode_string([nonce, &ciphertext].concat(), &mut sealed);
            }
        }
        if sealed.len() > STATE_BYTES_MAX { Err(SealFault::TooLarge) } else { Ok(sealed) }
    }

    /// The key and the authentic body.
    fn unseal(&self, sealed: &str) -> Result<(&Key, Vec<u8>), Cause> {
        if sealed.len() > STATE_BYTES_MAX {
            return Err(Cause::TooLong);
        }
        if let Some(rest) = sealed.strip_prefix(SIGNED) {
            let (id, rest) = rest.split_once('.').ok_or(Cause::Malformed)?;
            let (body, tag) = rest.split_once('.').ok_or(Cause::Malformed)?;
            let (body, tag) = (decode(body)?, decode(tag)?);
            let key = self.keys.find(id).ok_or(Cause::UnknownKey)?;
            let signed = sealed.rsplit_once('.').map_or("", |(signed, _)| signed);
            // Over the text as sent and in constant time (SEC-11).
            key.mac(Purpose::State, &[signed.as_bytes()])
                .verify_slice(&tag)
                .map_err(|_| Cause::Tampered)?;
            return Ok((key, body));
        }
        let rest = sealed.strip_prefix(ENCRYPTED).ok_or(Cause::Malformed)?;
        let (id, text) = rest.split_once('.').ok_or(Cause::Malformed)?;
        let bytes = decode(text)?;
        let (nonce, ciphertext) = bytes.split_at_checked(NONCE_BYTES).ok_or(Cause::Malformed)?;
        let key = self.keys.find(id).ok_or(Cause::UnknownKey)?;
        let aad = &sealed.as_bytes()[..ENCRYPTED.len() + id.len()];
        let payload = Payload { msg: ciphertext, aad };
        let body = key.cipher.decrypt(&xnonce(nonce), payload).map_err(|_| Cause::Tampered)?;
        Ok((key, body))
    }
}

/// Reads an authentic body and checks what it is bound to.
fn check_body(
    key: &Key,
    mut body: Vec<u8>,
    binding: &Binding<'_>,
    now: u64,
) -> Result<Opened, Cause> {
    let (header, _) = body.split_at_checked(HEADER_BYTES).ok_or(Cause::Malformed)?;
    let (expires, header) = header.split_first_chunk().ok_or(Cause::Malformed)?;
    let (id, tags) = header.split_first_chunk().ok_or(Cause::Malformed)?;
    let (expires, id) = (u64::from_be_bytes(*expires), *id);
    let causes = [Cause::Principal, Cause::Method, Cause::Target];
    let expected = bindings(key, binding);
    for ((sent, expected), cause) in tags.chunks_exact(TAG_BYTES).zip(&expected).zip(causes) {
        // The body is authentic, so nothing can be learned here from timing.
        if sent != expected {
            return Err(cause);
        }
    }
    if now >= expires {
        return Err(Cause::Expired);
    }
    body.drain(..HEADER_BYTES);
    Ok(Opened { state: body, id, expires })
}

/// The keyed tags of principal, method and target.
fn bindings(key: &Key, binding: &Binding<'_>) -> [[u8; TAG_BYTES]; 3] {
    let principal = match binding.principal {
        Some(principal) => key.short_tag(Purpose::StatePrincipal, &[principal.as_bytes()]),
        None => key.short_tag(Purpose::StatePrincipal, &[]),
    };
    [
        principal,
        key.short_tag(Purpose::StateMethod, &[binding.method.as_bytes()]),
        key.short_tag(Purpose::StateTarget, &[&binding.target]),
    ]
}

/// Strict: no padding, no foreign character, no non-zero trailing bits, so a body has one text.
fn decode(text: &str) -> Result<Vec<u8>, Cause> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Cause::Malformed)
}

fn xnonce(bytes: &[u8]) -> XNonce {
    XNonce::try_from(bytes).expect("both callers split the bytes at NONCE_BYTES")
}

const SIGNED: &str = "v1.s.";
const ENCRYPTED: &str = "v1.e.";
const ID_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
const HEADER_BYTES: usize = 8 + ID_BYTES + 3 * TAG_BYTES;
