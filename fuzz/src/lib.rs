//! The fuzz targets as plain functions, and their registry. Each panics when an invariant breaks.

mod cursor;
mod header;
mod http;
mod json;
mod legacy;
mod line;
mod lists;
mod message;
mod state;
mod uri_template;

pub use cursor::cursor;
pub use header::header;
pub use http::http;
pub use json::json;
pub use legacy::legacy;
pub use line::line;
pub use lists::lists;
pub use message::message;
pub use state::state;
pub use uri_template::uri_template;

/// One target: what `fuzz_targets/` wraps and the smoke test runs.
pub struct Target {
    /// Name of the binary in `fuzz_targets/`.
    pub name: &'static str,
    /// Panics on a broken invariant, returns on every other input.
    pub run: fn(&[u8]),
    /// Inputs to mutate, one per kind that the parser knows.
    pub corpus: &'static [&'static [u8]],
    /// Fragments that a mutation inserts: what the parser compares with.
    pub dictionary: &'static [&'static [u8]],
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "http", run: http, corpus: http::CORPUS, dictionary: http::DICTIONARY },
    Target { name: "json", run: json, corpus: json::CORPUS, dictionary: json::DICTIONARY },
    Target { name: "line", run: line, corpus: line::CORPUS, dictionary: line::DICTIONARY },
    Target { name: "lists", run: lists, corpus: lists::CORPUS, dictionary: lists::DICTIONARY },
    Target {
        name: "message",
        run: message,
        corpus: message::CORPUS,
        dictionary: message::DICTIONARY,
    },
    Target { name: "legacy", run: legacy, corpus: legacy::CORPUS, dictionary: legacy::DICTIONARY },
    Target { name: "header", run: header, corpus: header::CORPUS, dictionary: header::DICTIONARY },
    Target {
        name: "uri_template",
        run: uri_template,
        corpus: uri_template::CORPUS,
        dictionary: uri_template::DICTIONARY,
    },
    Target { name: "cursor", run: cursor, corpus: cursor::CORPUS, dictionary: cursor::DICTIONARY },
    Target { name: "state", run: state, corpus: state::CORPUS, dictionary: state::DICTIONARY },
];

/// A small deterministic generator (splitmix64): the same seed gives the same run everywhere.
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; zero if `bound` is.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}
