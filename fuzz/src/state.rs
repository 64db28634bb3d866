//! The requestState decoder: of all mutations only the sealed texts themselves open.

use std::sync::{Arc, LazyLock};

use codec::state::{Binding, Codec, Keys, Protection, digest};

/// A sealed state.
pub fn state(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let binding = Binding { principal: Some("alice"), method: "tools/call", target: *TARGET };
    let opens = CODEC.open(&text, &binding, 0).is_ok();
    assert_eq!(opens, CORPUS[..2].contains(&data), "{text}");
}

static TARGET: LazyLock<[u8; 32]> = LazyLock::new(|| digest("tools/call", "add", None));

static CODEC: LazyLock<Codec> = LazyLock::new(|| {
    let secret: [u8; 32] = std::array::from_fn(|at| at as u8);
    let keys = Keys::new("k1", &secret).expect("a good key");
    Codec::new(Arc::new(keys), Protection::SignedReadable)
});

/// The first two are good: one of each protection.
pub(crate) const CORPUS: &[&[u8]] = &[
    b"v1.s.k1.AAAAAAAPRJigoaKjpKWmp6ipqqusra6vUsqPXjeS5FuOc_UXLqlMUUni1RhKr4L92NggNLU1bmMFMsJKdzRAxF8n31O4yRY5c3RlcDI.8qmEewJ-j7LoayOJhZNxK-L2twwIv0JzBj6NXtOKZzM",
    b"v1.e.k1.sLGys7S1tre4ubq7vL2-v8DBwsPExcbHjIwfSi5FjSw4OOWTU-dgXTym8pfZSxzMdSK7BlVQlxg5S4nuCPxsLwNjFpyuYhMqQHlcQpZGIo0u4d7qcLpS60WTFiq-ZSoYDgEtKnu2zLdynDoVtkz2jtfLjQYQ",
    b"v1.s.k1..",
    b"v1.e.k1.",
];

pub(crate) const DICTIONARY: &[&[u8]] =
    &[b"v1.s.", b"v1.e.", b"k1", b".", b"-TAMPERED", b"=", b"A", b"-", b"_"];
