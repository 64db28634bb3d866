//! From the description to one client on a pair of streams.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::builder::Builder;
use super::handle::Handle;
use super::start::{connect, core_config, start_error};
use crate::app::App;
use crate::engine::core::Core;
use crate::engine::worker::{self, WorkerConfig};
use crate::error::Error;
use crate::hooks::Principal;
use crate::stdio::{self, Streams};

/// A described server with the one client that it has; it ends with that client.
///
/// One core serves it, whatever number of workers was set. There are no headers and no statuses: the authenticator is not
/// asked, credentials come from the environment (STD-14).
#[must_use = "a server does nothing until it is run or started"]
pub struct Piped {
    builder: Builder,
    ends: io::Result<(Box<dyn Read + Send>, Box<dyn Write + Send>)>,
    principal: Option<Principal>,
}

impl Piped {
    pub(super) fn new(
        builder: Builder,
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
    ) -> Self {
        Self { builder, ends: Ok((reader, writer)), principal: None }
    }

    /// Descriptors of its own: the process's buffers for both streams are passed by.
    pub(super) fn stdio(builder: Builder) -> Self {
        let own = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
        let ends = own(&io::stdin()).and_then(|input| {
            let output = own(&io::stdout())?;
            Ok::<(Box<dyn Read + Send>, Box<dyn Write + Send>), _>((
                Box::new(input),
                Box::new(output),
            ))
        });
        Self { builder, ends, principal: None }
    }

    /// Who the client is, as guards, scopes and handlers see it; nobody by default.
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Serves the client to its end: when its stream ends, requests that run have
    /// [`stream_grace`](crate::Limits::stream_grace) to finish (STD-06).
    ///
    /// # Errors
    /// What kept it from starting: a wrong registration, a wrong setting, a refused driver.
    pub fn run(self) -> Result<(), Error> {
        self.start()?.join()
    }

    /// Starts to serve the client and returns at once. The server ends with its client, or when the handle drains it.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn start(self) -> Result<Handle, Error> {
        let Self { builder, ends, principal } = self;
        let config = WorkerConfig {
            workers: 1,
            pin: builder.pin,
            driver: builder.driver,
            core: core_config(&builder),
        };
        let app = builder.build(1, true)?;
        let (reader, writer) = ends.map_err(Error::System)?;
        let workers = worker::start(app.clone(), None, &config).map_err(start_error)?;
        connect(&app, &workers);
        let handle = Handle::new(Arc::clone(&app), workers);
        let opened = Streams::start(reader, writer, &app.limits).and_then(|streams| {
            handle.on_first_core(move |core| stdio::open(core, streams, principal))
        });
        if let Err(error) = opened {
            handle.drain(Duration::ZERO);
            handle.join()?;
            return Err(Error::System(error));
        }
        Ok(handle)
    }
}

impl Handle {
    fn on_first_core(&self, job: impl FnOnce(&Rc<Core<App>>) + Send + 'static) -> io::Result<()> {
        let core = self.workers.mailboxes().first();
        let posted = core.map(|core| core.post(Box::new(job)));
        match posted {
            Some(Ok(())) => Ok(()),
            _ => Err(io::Error::other("the core takes no work")),
        }
    }
}
