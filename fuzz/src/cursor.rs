//! The cursor decoder: nothing opens but what was sealed.

use std::sync::{Arc, LazyLock};

use codec::cursor::{Cursors, Scope};
use codec::state::Keys;

/// A cursor; the same bytes also serve as the key of an item.
pub fn cursor(data: &[u8]) {
    let scope = Scope { method: "tools/list", principal: Some("alice") };
    let text = String::from_utf8_lossy(data);
    if let Ok(position) = CURSORS.open(&scope, &text) {
        assert_eq!(CURSORS.seal(&scope, position.sequence, &position.key), text);
    }
    let sealed = CURSORS.seal(&scope, data.len() as u64, &text);
    let position = CURSORS.open(&scope, &sealed).expect("its own cursor opens");
    assert!(position.key == text || text.len() > codec::cursor::KEY_BYTES_MAX);
}

static CURSORS: LazyLock<Cursors> = LazyLock::new(|| {
    let secret: [u8; 32] = std::array::from_fn(|at| at as u8);
    Cursors::new(Arc::new(Keys::new("k1", &secret).expect("a good key")))
});

pub(crate) const CORPUS: &[&[u8]] =
    &[b"AQAAAAAAAAAqd2VhdGhlciMTOMhfYR6A6qmpg7XXCH4", b"", b"weather"];

pub(crate) const DICTIONARY: &[&[u8]] = &[b"A", b"AAAA", b"-", b"_", b"=", b"AQAAAAAAAAA"];
