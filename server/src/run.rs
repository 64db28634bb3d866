//! From the flags to a running server, and to its end.

use ringmcp::{Builder, Error, Limits, Server};

use crate::auth::{self, Bearer};
use crate::cli::Args;
use crate::handlers::{Seat, add_catalogue};
use crate::signals::Signals;
use crate::{Failure, allocator, banner, log};

/// Serves until a signal ends it, or its one client.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let _log = log::start(args)?;
    let bearer = auth::token(args)?;
    // Before the start: a signal that comes early must not be lost.
    let signals = Signals::catch()?;
    let seat = Seat::default();
    let builder = describe(args, &seat, bearer)?;
    let handle = match args.stdio {
        true => builder.stdio().start(),
        false => builder.bind(&args.listen).start(),
    };
    let handle = handle.map_err(failure)?;
    banner::print(args, &handle);
    seat.put(handle.clone());
    args.handlers.animate(&handle).map_err(|error| failure(Error::System(error)))?;
    signals.drain(handle.clone(), drain_deadline(args))?;
    handle.join().map_err(failure)?;
    let counters = handle.counters();
    tracing::info!(requests = counters.requests, "ended");
    Ok(())
}

/// Whoever started this process waits less for its end than those do who call it.
fn drain_deadline(args: &Args) -> std::time::Duration {
    let limits = Limits::from(&args.limits);
    if args.stdio { limits.stream_grace.min(limits.drain_deadline) } else { limits.drain_deadline }
}

fn describe(args: &Args, seat: &Seat, bearer: Option<Bearer>) -> Result<Builder, Failure> {
    let mut builder = Server::builder("ringmcp-server", env!("CARGO_PKG_VERSION"))
        .limits(Limits::from(&args.limits))
        .path(&args.path)
        .driver(args.driver.into())
        .response_mode(args.response_mode.into())
        .legacy(args.legacy.into())
        .after_peak(allocator::give_back);
    if let Some(workers) = args.workers {
        builder = builder.workers(workers);
    }
    if let Some(items) = args.page_size {
        builder = builder.page_size(items);
    }
    for host in &args.allow_host {
        builder = builder.allow_host(host);
    }
    for origin in &args.allow_origin {
        builder = builder.allow_origin(origin);
    }
    for key in &args.state_key {
        let (id, secret) = key.read().map_err(Failure::Usage)?;
        builder = builder.state_key(id, secret);
    }
    if let Some(bearer) = bearer {
        builder = bearer.guard(builder);
    }
    let builder = args.handlers.add(builder, seat);
    Ok(add_catalogue(builder, args.catalogue))
}

/// Sorts the library's errors by who can help.
pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::Registration(_) | Error::Config(_) => Failure::Usage(error.to_string()),
        _ => Failure::System(error.to_string()),
    }
}
