//! The binary as its users meet it: started as a process, called over real sockets, ended by signals.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail as the test does: at the line")]

mod bearer;
mod cli;
mod drain;
mod everything;
mod http;
mod process;
mod reports;
mod stdio;
