//! Every bound the codec enforces, by name, with the reason it has that size. Bounds of the wire
//! (body, head, line) belong to the transport; these are the ones a parser or a writer needs.

/// Nesting of arrays and objects a document may have by default. Ledger RPC-20, SEC-02.
pub const DEPTH_MAX_DEFAULT: usize = 128;

/// The most nesting a configuration may ask for: readers of a value recurse, and a worker's stack
/// must hold the deepest document.
pub const DEPTH_MAX_CEILING: usize = 256;

/// Characters of a peer's text that may be repeated in an error message. Ledger SEC-13.
pub const ECHO_CHARS_MAX: usize = 200;

/// Objects up to this many members are checked for duplicate names pairwise on the stack; larger
/// ones are sorted on the heap, so that a hostile object costs n log n.
pub const PAIRWISE_MEMBERS_MAX: usize = 32;

/// Tape nodes (24 bytes each) a released document keeps for its next parse: as many as a body of
/// [`LARGE_BODY_BYTES`] can ask for. A 4 MiB body can ask for 4 Mi nodes, which must not stay in a
/// pool.
pub const DOCUMENT_KEEP_NODES_MAX: usize = 16 * 1024;

/// Bytes of a body beyond which it is read into the parser's one large tape.
pub const LARGE_BODY_BYTES: usize = 16 * 1024;

/// Bytes of strings without their escapes that a released document keeps room for.
pub const DOCUMENT_KEEP_ESCAPED_BYTES_MAX: usize = 256 * 1024;

/// Nodes that the one large tape of a parser keeps room for: with it a core reads one large document
/// after the other without asking for memory. A body of 1 MiB of small values fits.
pub const PARSER_KEEP_NODES_MAX: usize = 512 * 1024;

/// Bytes of `tracestate` that are read (W3C Trace Context 3.3.1.5 asks for at least 512). Ledger
/// TRC-03.
pub const TRACESTATE_BYTES_MAX: usize = 512;

/// Bytes of `baggage` that are read (W3C Baggage 3.3.2). Ledger TRC-03.
pub const BAGGAGE_BYTES_MAX: usize = 8192;

const _: () = assert!(DEPTH_MAX_DEFAULT <= DEPTH_MAX_CEILING);
