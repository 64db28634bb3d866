//! MCP over one stream of lines each way, as a process's standard input and output (ledger section 6), or any other pair
//! of a reader and a writer.
//!
//! Read in this order: [`inflow`] and [`outflow`] are the two ends, [`channel`] takes lines and chooses the era of each
//! message, [`modern`] and [`legacy`] answer, [`running`] knows what is under way.
//!
//! # Threads, not the ring
//! Each end has a thread of its own that reads or writes and blocks. Standard input may be a file or a terminal, which
//! epoll cannot wait for, and making a descriptor non-blocking changes it for every process that shares it: a shell would
//! find its terminal broken. A thread serves whatever can be read or written, on either driver, and one peer needs no more.
//!
//! # No deadlock
//! What is read never waits for what runs: a request beyond the limit is refused, so that a cancellation, or the answer
//! to what a handler asked of its client, is never stuck behind it. Reading pauses for one reason alone: the client leaves
//! more unread than it may. What is written waits for nobody but the client, so whoever reads gets everything, and only
//! one who never reads again waits for ever. Nothing is given up for that: a client may be stopped in a debugger.

mod channel;
mod ending;
mod inflow;
mod legacy;
mod modern;
mod outflow;
mod running;

use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use crate::app::App;
use crate::engine::core::Core;
use crate::hooks::Principal;
use crate::limits::Limits;
use inflow::Inflow;
use outflow::Outflow;

/// How long a thread waits whose descriptor somebody else has made non-blocking.
const RETRY: std::time::Duration = std::time::Duration::from_millis(5);

/// Both ends of one peer, each with its thread.
pub(crate) struct Streams {
    inflow: Arc<Inflow>,
    outflow: Arc<Outflow>,
}

impl Streams {
    /// Starts reading and writing.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
        limits: &Limits,
    ) -> io::Result<Self> {
        let inflow = Arc::new(Inflow::default());
        let outflow = Arc::new(Outflow::new(limits.unread_bytes));
        let pump = Arc::clone(&outflow);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("ringmcp-out").spawn(move || pump.run(writer))?;
        let pump = Arc::clone(&inflow);
        match thread("ringmcp-in").spawn(move || pump.run(reader)) {
            Ok(_) => Ok(Self { inflow, outflow }),
            Err(error) => {
                outflow.close();
                Err(error)
            }
        }
    }
}

/// Serves the peer on this core to its end, and then ends the server.
pub(crate) fn open(core: &Rc<Core<App>>, streams: Streams, principal: Option<Principal>) {
    let owner = Rc::clone(core);
    let ends_server = ServerEnds(Rc::clone(core));
    core.spawn("stream of lines", move || async move {
        let _ends_server = ends_server;
        channel::serve(&owner, streams, principal.map(Rc::new)).await;
    });
}

/// A server of one peer ends with it, however the serving of it ends.
struct ServerEnds(Rc<Core<App>>);

impl Drop for ServerEnds {
    fn drop(&mut self) {
        let cores = self.0.serve.cores.get();
        cores.into_iter().flat_map(|cores| cores.iter()).for_each(|core| core.drain(0));
    }
}
