//! Measures several servers in turns, and tells differences from noise.
//!
//! `plan` says what is compared, `server` starts and stops it, `rounds` runs the turns, `figures` takes medians and
//! ratios, `table` and `page` show them.

pub(crate) mod cli;
mod figures;
pub(crate) mod model;
mod page;
mod plan;
mod rounds;
mod server;
mod table;

pub(crate) use model::Comparison;
pub(crate) use page::page;
pub(crate) use rounds::compare;
