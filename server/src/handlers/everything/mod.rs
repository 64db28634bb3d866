//! `--handlers everything`: one handler for each thing that a conformance suite or a probe calls by name.
//!
//! The texts, names and URIs are agreed with those who call; a change here breaks them.

mod content;
mod measured;
mod plain;
mod probes;
mod prompts;
mod resources;
mod rounds;
mod rounds_legacy;
mod typed;

use ringmcp::Builder;

use super::Seat;

/// Adds the whole fixture. The first tool needs no arguments and the first resource can be read, which some checks
/// rely on.
pub(crate) fn add(builder: Builder, seat: &Seat) -> Builder {
    let builder = plain::add(builder);
    let builder = content::add(builder);
    let builder = rounds::add(builder);
    let builder = rounds_legacy::add(builder);
    let builder = probes::add(builder, seat);
    let builder = typed::add(builder);
    let builder = measured::add(builder);
    let builder = prompts::add(builder);
    resources::add(builder)
}
