//! The measuring client: many connections at once, arrival times, and the server's own clock and memory.
//!
//! client streams --port P --pid PID --streams N [--uri URI] [--events E] [--burst K]
//! client connections --port P --pid PID --count N --tool echo|hold
//! client closes --port P --count N [--busy CONNECTIONS]
//!
//! Each prints one JSON object. What a server must offer: the tools echo, publish, hold and released.

mod args;
mod busy;
mod closes;
mod connections;
mod crowd;
mod process;
mod streams;
mod wire;

use std::error::Error;
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args = args::Args::read();
    let done = match args.command() {
        "streams" => streams::measure(&args),
        "connections" => connections::measure(&args),
        "closes" => closes::measure(&args),
        other => Err(format!("{other:?} is no command: streams, connections, closes").into()),
    };
    match done {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("client: {error}");
            ExitCode::FAILURE
        }
    }
}
