//! The binary as its users meet it: started as a process, called over real sockets, ended by signals.

mod bearer;
mod cli;
mod drain;
mod everything;
mod http;
mod process;
mod reports;
