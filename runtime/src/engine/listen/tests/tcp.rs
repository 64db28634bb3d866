//! Streams on real workers and sockets, with the news from another thread; the same on both drivers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use codec::id::Id;
use serde_json::Value;

use super::{ACK, HEAD, PACE, TOOLS, closing};
use crate::engine::core::{Core, CoreParts, LinkGuard, Serve};
use crate::engine::listen;
use crate::engine::rounds;
use crate::engine::tests::{PATIENCE, core_config, drivers};
use crate::engine::worker::{WorkerConfig, Workers, start};
use crate::hub::{Bus, Exchange, ExchangeConfig, Filter, Hub, LocalBus, Topic};
use crate::io::{Link, TcpLink, bind};
use crate::notifier::Notifier;

const WORKERS: usize = 2;
const CLIENTS: usize = 12;

/// Takes a line for a listen request, and listens to tools.
struct Streams(Arc<Exchange>);

impl Serve for Streams {
    type Local = Rc<Hub>;

    fn local(&self, parts: &CoreParts) -> Rc<Hub> {
        Hub::new(Arc::clone(&self.0), parts.id, Arc::clone(&parts.counters))
    }

    async fn connection(core: Rc<Core<Self>>, mut link: TcpLink, open: LinkGuard) {
        let (result, buf) = link.read(core.buffers.get()).await;
        if !matches!(result, Ok(1..)) || !buf.ends_with(b"\n") {
            return;
        }
        let mut filter = Filter::default();
        filter.topics = filter.topics.with(Topic::ToolsListChanged);
        let opened = core.app.open(Id::from("s").to_owned(), filter, None, None);
        let Ok(subscription) = opened else { return };
        listen::run(core, link, open, HEAD.to_vec(), subscription, PACE).await;
    }

    fn nudged(core: &Rc<Core<Self>>, _: u32) {
        if core.app.deliver() {
            let (owner, hub) = (Rc::clone(core), Rc::clone(&core.app));
            core.spawn("telling", move || rounds::go_on(owner, hub));
        }
    }

    fn draining(core: &Rc<Core<Self>>) {
        core.app.end_all();
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn listen(addr: SocketAddr) -> Client {
        let mut stream = TcpStream::connect(addr).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream.write_all(b"listen\n").expect("the peer reads");
        Client(BufReader::new(stream))
    }

    /// The data of the next event; `None` at the end of the stream.
    fn event(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("the stream goes on") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("one line of JSON"));
            }
        }
    }

    fn method(&mut self) -> String {
        let event = self.event().expect("an event");
        event["method"].as_str().expect("a notification").to_owned()
    }
}

fn until(workers: &Workers<Streams>, open: u64) {
    let late = Instant::now() + PATIENCE;
    while workers.counters().subscriptions_open != open {
        assert!(Instant::now() < late, "{:?}", workers.counters());
        thread::yield_now();
    }
}

/// [SUB-02] [SUB-07] [SUB-11] [SUB-12] [SUB-14] [SUB-19] news from any thread reaches every stream of every core; a
/// client that leaves is forgotten; the drain ends the others with their closing result
#[test]
fn streams_live_and_end_on_real_sockets() {
    for chosen in drivers() {
        let bus: Arc<dyn Bus> = Arc::new(LocalBus::new());
        let exchange = Exchange::new(
            ExchangeConfig {
                cores: WORKERS,
                kinds: Default::default(),
                matcher: None,
                server_info: Some(r#"{"name":"s","version":"1"}"#.into()),
                subscriptions_max: CLIENTS,
                subscriptions_per_principal_max: 1,
            },
            &*bus,
        );
        let here = "127.0.0.1:0".parse().expect("an address");
        let bound = bind(here, 64, WORKERS).expect("the kernel has a port");
        let config = WorkerConfig {
            workers: WORKERS,
            pin: false,
            driver: chosen.into(),
            core: core_config(),
        };
        let serve = Arc::new(Streams(Arc::clone(&exchange)));
        let workers = start(serve, Some(bound), &config).expect("workers can start");
        for (core, mailbox) in workers.mailboxes().iter().enumerate() {
            let mailbox = mailbox.clone();
            exchange.inbox(core).set_bell(Box::new(move || mailbox.nudge(1)));
        }
        let addr = workers.addr().expect("they listen");
        let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::listen(addr)).collect();
        assert!(clients.iter_mut().all(|client| client.method() == ACK));
        let notifier = Notifier::new(Arc::clone(&bus));
        thread::spawn(move || notifier.tools_changed()).join().expect("publishing never fails");
        assert!(clients.iter_mut().all(|client| client.method() == TOOLS));

        clients.truncate(CLIENTS / 2);
        until(&workers, clients.len() as u64);
        assert_eq!(exchange.open_count(), clients.len());
        workers.drain(PATIENCE.as_millis() as u64);
        for client in &mut clients {
            assert_eq!(client.event(), Some(closing()));
            assert_eq!(client.event(), None);
            let mut rest = Vec::new();
            assert_eq!(client.0.read_to_end(&mut rest).expect("a clean end"), 0);
        }
        drop(clients);
        workers.join().expect("workers end well");
        assert_eq!(exchange.open_count(), 0);
    }
}
