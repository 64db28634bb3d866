//! From the description to running workers.

use std::net::{SocketAddr, ToSocketAddrs};
#[cfg(test)]
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use codec::cursor::Cursors;
use codec::state::{Codec, Keys};
use transport::mcp::origin;

use super::builder::{Builder, Reference};
use super::handle::Handle;
use crate::app::App;
use crate::engine::core::{Core, CoreConfig};
#[cfg(test)]
use crate::engine::mailbox::{Inbox, Mailbox};
use crate::engine::worker::{self, StartError, WorkerConfig};
use crate::error::Error;
use crate::hub::{Bus, Event, Exchange, ExchangeConfig, Kinds, LocalBus, Topic};
use crate::in_process::InProcess;
use crate::io;
use crate::notifier::Notifier;
use crate::registry::{Changed, Draft, RegistrationError, Registry};
use crate::state::{States, keys};

/// Connections that wait in the kernel for one worker.
const BACKLOG: u32 = 4096;

/// Jobs from other threads that may wait for one core.
const MAILBOX_JOBS: usize = 1024;

/// Capacity of a pooled buffer, in bytes.
const BUFFER_BYTES: usize = 1024;

/// Idle buffers that one core keeps.
const BUFFERS_KEPT: usize = 256;

/// A described server with an address.
#[must_use = "a bound server does nothing until it is run or started"]
pub struct Bound {
    pub(super) builder: Builder,
    pub(super) address: String,
}

impl Bound {
    /// Runs the server on this thread's behalf until the process ends. No signal handlers are installed: to end it
    /// gracefully, [`start`](Self::start) it and [`drain`](crate::Handle::drain) the handle.
    ///
    /// # Errors
    /// What kept it from starting: a wrong registration, a wrong setting, an address in use, a refused driver.
    pub fn run(self) -> Result<(), Error> {
        self.start()?.join()
    }

    /// Starts the server and returns at once; it runs until the handle drains it.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn start(self) -> Result<Handle, Error> {
        let Self { mut builder, address } = self;
        let address = resolve(&address)?;
        let workers = builder.workers.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
        });
        let config = WorkerConfig {
            workers,
            pin: builder.pin,
            driver: builder.driver,
            core: core_config(&builder),
        };
        let loopback = address.ip().is_loopback();
        // What the program got wrong is told before the machine is asked for anything.
        if let Some(fault) = builder.fault.take() {
            return Err(fault);
        }
        let unkeyed = builder.keys.is_empty();
        let app = builder.build(workers, loopback)?;
        let bound = io::bind(address, BACKLOG, workers)
            .map_err(|error| Error::Address(error.to_string()))?;
        let workers = worker::start(app.clone(), Some(bound), &config).map_err(start_error)?;
        connect(&app, &workers);
        if unkeyed && !loopback {
            tracing::warn!(
                "no state key is set: cursors and request states of this process are refused by every other replica \
                 and after a restart"
            );
        }
        Ok(Handle::new(app, workers))
    }
}

/// A server on a core of the calling thread.
pub(super) fn in_process(builder: Builder) -> Result<InProcess, Error> {
    let config = core_config(&builder);
    let app = builder.build(1, true)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let parts = Core::simulated(app.clone(), &config, now)?;
    InProcess::new(app, parts)
}

#[cfg(test)]
impl Builder {
    /// A core of the calling thread on a clock that stands still, and whose date never changes, for simulations.
    pub(crate) fn simulated(self) -> (Rc<Core<App>>, Mailbox<App>, Inbox<App>) {
        let config =
            CoreConfig { date: |_| *b"Thu, 01 Jan 1970 00:00:00 GMT", ..core_config(&self) };
        let app = self.build(1, true).expect("a server that is well described");
        let parts = Core::simulated(app.clone(), &config, 0).expect("a socket pair");
        let mailbox = parts.1.clone();
        app.exchange.inbox(0).set_bell(Box::new(move || mailbox.nudge(1)));
        parts
    }
}

/// Lets cores reach each other, and events the cores: each inbox rings its own core.
pub(super) fn connect(app: &Arc<App>, workers: &worker::Workers<App>) {
    let first = app.cores.set(Arc::clone(workers.mailboxes())).is_ok();
    debug_assert!(first, "workers are started once");
    for (core, mailbox) in workers.mailboxes().iter().enumerate() {
        let mailbox = mailbox.clone();
        app.exchange.inbox(core).set_bell(Box::new(move || mailbox.nudge(1)));
    }
}

pub(super) fn start_error(error: StartError) -> Error {
    match error {
        StartError::Bind(error) => Error::Address(error.to_string()),
        StartError::Driver(error) => Error::Driver(error.to_string()),
        StartError::Worker { worker, source } => Error::System(std::io::Error::new(
            source.kind(),
            format!("worker {worker} cannot start: {source}"),
        )),
    }
}

fn resolve(address: &str) -> Result<SocketAddr, Error> {
    let fault = |why: String| {
        Error::Address(format!(
            "address {address:?}: {why}; expected HOST:PORT, such as 127.0.0.1:8080"
        ))
    };
    let mut found = address.to_socket_addrs().map_err(|error| fault(error.to_string()))?;
    found.next().ok_or_else(|| fault("no such host".to_owned()))
}

pub(super) fn core_config(builder: &Builder) -> CoreConfig {
    CoreConfig {
        connections_max: builder.limits.connections_per_core,
        mailbox_depth: MAILBOX_JOBS,
        stall_threshold: builder.limits.stall_warning,
        buffer_bytes: BUFFER_BYTES,
        buffers_kept_max: BUFFERS_KEPT,
        date: transport::http::date::format,
    }
}

impl Builder {
    /// Checks everything and makes the shared half of the server.
    pub(super) fn build(mut self, cores: usize, loopback: bool) -> Result<Arc<App>, Error> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let guard = origin::Guard::new(loopback, &self.hosts, &self.origins)
            .map_err(|error| Error::Config(format!("allowed hosts and origins: {error}")))?;
        let keys = Arc::new(self.seal_keys()?);
        let registry = Arc::new(Registry::new(self.limits.entries));
        self.fill(&registry)?;
        let info_json = serde_json::to_string(&self.info)
            .map_err(|error| Error::Config(format!("server info: {error}")))?;
        let bus: Arc<dyn Bus> = self.bus.take().unwrap_or_else(|| Arc::new(LocalBus::new()));
        let exchange = Exchange::new(
            ExchangeConfig {
                cores,
                kinds: self.kinds()?,
                matcher: self.matcher.take(),
                server_info: self.stamp_info.then(|| info_json.as_str().into()),
                subscriptions_max: self.limits.subscriptions,
                subscriptions_per_principal_max: self.limits.subscriptions_per_principal,
            },
            &*bus,
        );
        announce(&registry, bus.clone());
        let codec =
            Codec::new(keys.clone(), self.protection).with_ttl_secs(self.state_ttl.as_secs());
        let states = States { codec, replay: self.replay, bytes_max: self.limits.state_bytes };
        let offload = crate::offload::Pools::start(
            &self.limits,
            #[cfg(feature = "tokio")]
            self.tokio,
        )?;
        Ok(Arc::new(App {
            info_member: format!(r#""{}":{info_json}"#, codec::meta::SERVER_INFO_KEY).into(),
            info_json: info_json.into(),
            instructions: self.instructions,
            limits: self.limits,
            registry,
            names: self.names,
            methods: self.methods,
            extensions: self.extensions,
            hooks: self.hooks,
            states,
            cursors: Cursors::new(keys),
            page_size: self.page_size,
            cache: self.cache,
            mode: self.mode,
            logging: self.logging,
            stamp_info: self.stamp_info,
            announces: self.announces,
            path: self.path,
            guard,
            notifier: Notifier::new(bus),
            exchange,
            offload,
            legacy: self.legacy,
            cores: OnceLock::new(),
        }))
    }

    fn seal_keys(&mut self) -> Result<Keys, Error> {
        let mut given = std::mem::take(&mut self.keys).into_iter();
        let fault = |id: &str, fault: codec::state::KeyFault| {
            Error::Config(format!("state key {id:?}: {fault}"))
        };
        let Some((id, secret)) = given.next() else {
            return Keys::random().map_err(|error| fault("random", error));
        };
        let first = keys(&id, &secret)?;
        given.try_fold(first, |ring, (id, secret)| {
            ring.with_old(&id, &secret).map_err(|error| fault(&id, error))
        })
    }

    fn kinds(&mut self) -> Result<Kinds, Error> {
        let mut kinds = Kinds::default();
        for field in std::mem::take(&mut self.fields) {
            let name = field.field.clone();
            kinds
                .register(field)
                .map_err(|why| Error::Config(format!("subscription field {name:?}: {why}")))?;
        }
        Ok(kinds)
    }

    fn fill(&mut self, registry: &Registry) -> Result<(), Error> {
        self.attach_scopes()?;
        self.attach_completers()?;
        let (tools, prompts) = (std::mem::take(&mut self.tools), std::mem::take(&mut self.prompts));
        let resources = std::mem::take(&mut self.resources);
        let templates = std::mem::take(&mut self.templates);
        let fill = |draft: &mut Draft| -> Result<(), RegistrationError> {
            tools.into_iter().try_for_each(|entry| draft.tools.add(entry))?;
            prompts.into_iter().try_for_each(|entry| draft.prompts.add(entry))?;
            resources.into_iter().try_for_each(|entry| draft.resources.add(entry))?;
            templates.into_iter().try_for_each(|entry| draft.templates.add(entry))
        };
        registry.edit(fill)?;
        Ok(())
    }

    fn attach_scopes(&mut self) -> Result<(), Error> {
        for (name, scopes) in std::mem::take(&mut self.scopes) {
            let tool =
                self.tools.iter_mut().find(|tool| tool.def.name == name).ok_or_else(|| {
                    Error::Config(format!(
                        "scopes are required of tool {name:?}, which is not registered"
                    ))
                })?;
            tool.scopes.extend(scopes);
        }
        Ok(())
    }

    fn attach_completers(&mut self) -> Result<(), Error> {
        for (reference, name, handler) in std::mem::take(&mut self.completers) {
            let known = match &reference {
                Reference::Prompt(prompt) => self
                    .prompts
                    .iter_mut()
                    .find(|entry| entry.def.name == *prompt)
                    .filter(|entry| entry.def.arguments.iter().flatten().any(|a| a.name == name))
                    .map(|entry| &mut entry.completers),
                Reference::Template(template) => self
                    .templates
                    .iter_mut()
                    .find(|entry| entry.def.uri_template == *template)
                    .filter(|entry| entry.template.variables().any(|variable| variable == name))
                    .map(|entry| &mut entry.completers),
            };
            let Some(completers) = known else {
                return Err(Error::Config(format!(
                    "a completion for {name:?} of {reference:?}, which has no such argument or variable; register \
                     the prompt or template first"
                )));
            };
            completers.insert(name, handler);
        }
        Ok(())
    }
}

/// Registry changes publish by themselves (SUB-20).
fn announce(registry: &Registry, bus: Arc<dyn Bus>) {
    registry.on_change(Box::new(move |changed: Changed| {
        for (moved, topic) in [
            (changed.tools, Topic::ToolsListChanged),
            (changed.prompts, Topic::PromptsListChanged),
            (changed.resources, Topic::ResourcesListChanged),
        ] {
            if moved {
                bus.publish(&Event::ListChanged(topic));
            }
        }
    }));
}
