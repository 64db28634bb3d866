//! Where the strings of a body that hold escapes lie without them. The body stays as it arrived, since ids are repeated
//! byte for byte (ledger RPC-03): each string here knows where its source is.

use memchr::memchr2;

/// What stands before each string: where its source starts in the body, little-endian.
type Origin = [u8; 4];

/// Room that is being filled, one string after the other.
pub(super) struct Unescaped<'b> {
    /// Until the first string comes.
    store: Option<&'b mut Vec<u8>>,
    /// What is left of it from then on.
    room: &'b mut [u8],
    /// Bytes of the body.
    body_len: usize,
}

impl<'b> Unescaped<'b> {
    /// Takes what `store` has, and makes it larger if need be; nothing where nothing is unescaped.
    pub(super) fn into(store: &'b mut Vec<u8>, body_len: usize) -> Unescaped<'b> {
        Unescaped { store: Some(store), room: &mut [], body_len }
    }

    /// Room for the string whose content begins `left` bytes before the end of the body.
    pub(super) fn room(&mut self, left: usize) -> &mut [u8] {
        if let Some(store) = self.store.take() {
            // An escape is longer, by a byte at least, than what it stands for. With its quotes and
            // what parts it from the next a string is as long as with its origin here; but nothing
            // parts the last.
            let enough = size_of::<Origin>() + left;
            if store.capacity() >= enough {
                store.resize(enough, 0);
            } else {
                *store = vec![0; enough];
            }
            self.room = store;
        }
        self.room.get_mut(size_of::<Origin>()..).unwrap_or_default()
    }

    /// The first `len` bytes of that room, which are the string now.
    pub(super) fn take(&mut self, left: usize, len: usize) -> &'b [u8] {
        let room = std::mem::take(&mut self.room);
        let Some((origin, room)) = room.split_first_chunk_mut() else { return &[] };
        let (text, room) = room.split_at_mut(len);
        *origin = ((self.body_len - left) as u32).to_le_bytes();
        self.room = room;
        text
    }
}

/// The source text of a string, if it lies here; `None` if it had no escapes and so is its own source text.
pub(super) fn source<'b>(store: &[u8], text: &str, body: &'b [u8]) -> Option<&'b str> {
    let offset = text.as_ptr().addr().checked_sub(store.as_ptr().addr())?;
    let origin: &Origin = store.get(..offset)?.last_chunk()?;
    let tail = body.get(u32::from_le_bytes(*origin) as usize..)?;
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', tail.get(at..)?)?;
        if tail[at] == b'"' {
            return std::str::from_utf8(&tail[..at]).ok();
        }
        at += 2;
    }
}
