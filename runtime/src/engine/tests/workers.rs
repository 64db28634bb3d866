//! Whole workers: start, serve, refuse, survive, drain.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::Arc;

use super::{core_config, drivers};
use crate::engine::core::{Core, CoreParts, LinkGuard, Serve};
use crate::engine::deadline::Kind;
use crate::engine::driver::{Chosen, Driver};
use crate::engine::worker::{StartError, WorkerConfig, Workers, start};
use crate::io::{Link, REFUSAL, TcpLink, bind};

const HERE: &str = "127.0.0.1:0";
const BACKLOG: u32 = 64;

/// Echoes; `!` panics, `q` ends the connection.
struct Echo;

impl Serve for Echo {
    type Local = ();

    fn local(&self, _: &CoreParts) {}

    async fn connection(core: Rc<Core<Self>>, mut link: TcpLink, open: LinkGuard) {
        loop {
            let (result, buf) = link.read(core.buffers.get()).await;
            match result {
                Ok(1..) => {}
                _ => break,
            }
            assert!(buf[0] != b'!', "asked to panic");
            let last = buf[0] == b'q';
            let (result, buf) = link.write_all(buf).await;
            core.buffers.put(buf);
            if result.is_err() || last {
                break;
            }
        }
        link.close().await;
        drop(open);
    }
}

fn config(chosen: Chosen, workers: usize) -> WorkerConfig {
    WorkerConfig { workers, pin: true, driver: chosen.into(), core: core_config() }
}

fn echo(config: &WorkerConfig) -> (Workers<Echo>, SocketAddr) {
    let here = HERE.parse().expect("an address");
    let bound = bind(here, BACKLOG, config.workers).expect("the kernel has a port");
    let workers = start(Arc::new(Echo), Some(bound), config).expect("workers can start");
    let addr = workers.addr().expect("they listen");
    assert_eq!(Driver::from(workers.driver()), config.driver);
    (workers, addr)
}

fn client(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).expect("somebody listens");
    stream.set_read_timeout(Some(super::PATIENCE)).expect("a timeout can be set");
    stream
}

fn ask(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    stream.write_all(text).expect("the peer reads");
    let mut answer = vec![0; text.len()];
    stream.read_exact(&mut answer).expect("the peer answers");
    answer
}

fn end<S: Serve>(workers: Workers<S>, within_ms: u64) {
    workers.drain(within_ms);
    workers.join().expect("workers end well");
}

/// Connections are spread over the workers' own listeners, served, counted, and gone after the drain.
#[test]
fn workers_serve_and_count() {
    for chosen in drivers() {
        let (workers, addr) = echo(&config(chosen, 2));
        let mut clients: Vec<_> = (0..16).map(|_| client(addr)).collect();
        for (i, client) in clients.iter_mut().enumerate() {
            let text = format!("hello {i}");
            assert_eq!(ask(client, text.as_bytes()), text.as_bytes());
        }
        let counted = workers.counters();
        assert_eq!((counted.connections_open, counted.connections_accepted), (16, 16));
        drop(clients);
        end(workers, 60_000);
    }
}

/// A panic in one connection costs that connection only; it is counted, and the worker serves on.
#[test]
fn a_panic_costs_its_own_connection() {
    for chosen in drivers() {
        let (workers, addr) = echo(&config(chosen, 1));
        let mut innocent = client(addr);
        assert_eq!(ask(&mut innocent, b"a"), b"a");
        let mut guilty = client(addr);
        guilty.write_all(b"!").expect("the peer reads");
        assert_eq!(guilty.read(&mut [0; 8]).unwrap_or(0), 0, "its connection ends");
        assert_eq!(ask(&mut innocent, b"b"), b"b");
        assert_eq!(ask(&mut client(addr), b"c"), b"c");
        assert_eq!(workers.counters().panics, 1);
        drop(innocent);
        end(workers, 60_000);
    }
}

/// Beyond the limit a connection is told 503 and closed; when one leaves there is room again.
#[test]
fn connections_beyond_the_limit_are_refused() {
    for chosen in drivers() {
        let mut config = config(chosen, 1);
        config.core.connections_max = 2;
        let (workers, addr) = echo(&config);
        let mut kept: Vec<_> = (0..2).map(|_| client(addr)).collect();
        for client in &mut kept {
            assert_eq!(ask(client, b"x"), b"x");
        }
        let mut answer = Vec::new();
        client(addr).read_to_end(&mut answer).expect("an orderly end");
        assert_eq!(answer, REFUSAL);
        assert_eq!(workers.counters().connections_refused, 1);

        let mut leaving = kept.pop().expect("two were kept");
        assert_eq!(ask(&mut leaving, b"q"), b"q");
        assert_eq!(leaving.read(&mut [0; 8]).expect("an orderly end"), 0);
        drop(leaving);
        let room_again = (0..10_000).any(|_| {
            let mut next = client(addr);
            let mut byte = [0];
            next.write_all(b"y").is_ok() && next.read_exact(&mut byte).is_ok() && byte == *b"y"
        });
        assert!(room_again);
        drop(kept);
        end(workers, 60_000);
    }
}

/// A drain lets an open connection finish, takes no new one, and the workers end as soon as it is gone.
#[test]
fn a_drain_waits_for_open_connections() {
    for chosen in drivers() {
        let (workers, addr) = echo(&config(chosen, 1));
        let mut open = client(addr);
        assert_eq!(ask(&mut open, b"before"), b"before");
        workers.drain(3_600_000);
        // Once the listener is gone nobody accepts any more; until then a connection may still slip in.
        let closed = (0..100_000).any(|_| TcpStream::connect(addr).is_err());
        assert!(closed);
        assert_eq!(ask(&mut open, b"during"), b"during");
        assert_eq!(ask(&mut open, b"q"), b"q");
        drop(open);
        workers.join().expect("workers end well");
    }
}

/// When the drain's deadline passes, the sockets that are left are shut down and their tasks end.
#[test]
fn a_drain_ends_what_does_not_leave() {
    for chosen in drivers() {
        let (workers, addr) = echo(&config(chosen, 1));
        let mut stubborn = client(addr);
        assert_eq!(ask(&mut stubborn, b"here"), b"here");
        end(workers, 1);
        assert_eq!(stubborn.read(&mut [0; 8]).unwrap_or(0), 0);
    }
}

/// A second server on the address is refused before anything starts, with the address and the remedy in the text.
#[test]
fn a_taken_address_is_refused() {
    let (workers, addr) = echo(&config(Chosen::Epoll, 1));
    let refused = bind(addr, BACKLOG, 1).expect_err("the address is taken");
    let text = StartError::from(refused).to_string();
    assert!(text.contains(&addr.to_string()) && text.contains("choose another port"), "{text}");
    end(workers, 0);
}

/// If one core cannot be set up, start says which and why, and no worker is left listening.
#[test]
fn a_failed_start_leaves_nothing_running() {
    struct Faulty;
    impl Serve for Faulty {
        type Local = ();
        fn local(&self, parts: &CoreParts) {
            assert!(parts.id != 1, "core 1 is to fail");
        }
        async fn connection(_: Rc<Core<Self>>, _: TcpLink, _: LinkGuard) {}
    }
    for chosen in drivers() {
        let bound = bind(HERE.parse().expect("an address"), BACKLOG, 2).expect("a port");
        let addr = bound.addr;
        let failed = start(Arc::new(Faulty), Some(bound), &config(chosen, 2));
        let text = failed.err().expect("core 1 failed").to_string();
        assert!(text.contains("cannot start"), "{text}");
        assert!(bind(addr, BACKLOG, 1).is_ok(), "the address is free again");
    }
}

/// Port 0 is resolved once: all workers share the port the kernel chose.
#[test]
fn all_workers_share_a_port_the_kernel_chose() {
    let bound = bind(HERE.parse().expect("an address"), BACKLOG, 3).expect("a port");
    assert_ne!(bound.addr.port(), 0);
    for socket in &bound.sockets {
        assert_eq!(socket.local_addr().expect("it is bound"), bound.addr);
    }
    assert_eq!(bound.sockets.len(), 3);
}

/// A connection idle between requests is ended when a drain begins, not at its end.
#[test]
fn a_drain_ends_idle_connections_at_once() {
    struct Patient;
    impl Serve for Patient {
        type Local = ();
        fn local(&self, _: &CoreParts) {}
        async fn connection(core: Rc<Core<Self>>, mut link: TcpLink, open: LinkGuard) {
            let idle = core.deadline(Some(link.shutdown_handle()));
            idle.arm(Kind::Idle, u64::MAX - 1);
            let (result, _) = link.read(core.buffers.get()).await;
            assert_eq!((result.ok(), idle.fired()), (Some(0), Some(Kind::Idle)));
            let _ = link.write_all(b"bye".to_vec()).await;
            link.close().await;
            drop(open);
        }
    }
    for chosen in drivers() {
        let bound = bind(HERE.parse().expect("an address"), BACKLOG, 1).expect("a port");
        let workers =
            start(Arc::new(Patient), Some(bound), &config(chosen, 1)).expect("workers can start");
        let mut idle = client(workers.addr().expect("they listen"));
        while workers.counters().connections_open == 0 {
            std::thread::yield_now();
        }
        workers.drain(3_600_000);
        let mut last = Vec::new();
        idle.read_to_end(&mut last).expect("an orderly end");
        assert_eq!(last, b"bye");
        drop(idle);
        assert_eq!(workers.counters().panics, 0);
        workers.join().expect("workers end well");
    }
}

/// A task that always finds work gives way without allocating a task for it, and its siblings get their turn.
#[test]
fn stepping_aside_lets_siblings_run() {
    for chosen in drivers() {
        let workers = start(Arc::new(Echo), None, &config(chosen, 1)).expect("workers can start");
        let (done, finished) = std::sync::mpsc::channel();
        let job = move |core: &Rc<Core<Echo>>| {
            let order = Rc::new(std::cell::RefCell::new(Vec::new()));
            for task in 0..3 {
                let (owner, order, done) = (core.clone(), order.clone(), done.clone());
                core.spawn("busy", move || async move {
                    for round in 0..100 {
                        order.borrow_mut().push((round, task));
                        owner.turns.step_aside().await;
                    }
                    done.send(order.borrow().clone()).expect("the test waits for it");
                });
            }
        };
        assert!(workers.mailboxes()[0].post(Box::new(job)).is_ok());
        let orders: Vec<Vec<(i32, i32)>> = (0..3)
            .map(|_| finished.recv_timeout(super::PATIENCE).expect("each task ends"))
            .collect();
        let fair: Vec<_> = (0..100).flat_map(|r| (0..3).map(move |t| (r, t))).collect();
        assert_eq!(orders[2], fair);
        end(workers, 0);
    }
}

const CHILD_DRIVER: &str = "RINGMCP_TEST_CHILD_DRIVER";

/// The server half of `descriptors_run_out_and_come_back`: answers each line of its input with its accept errors.
#[test]
#[ignore = "run by descriptors_run_out_and_come_back, in a process with few descriptors"]
fn few_descriptors_child() {
    let Ok(driver) = std::env::var(CHILD_DRIVER) else { return };
    let mut config = config(Chosen::Epoll, 1);
    config.driver = driver.parse().expect("the parent names a driver");
    config.core.connections_max = 1000;
    let (workers, addr) = echo(&config);
    println!("\nSAYS {addr}");
    for _ in std::io::stdin().lines() {
        println!("\nSAYS {}", workers.counters().accept_errors);
    }
    end(workers, 0);
}

/// Many connections one after the other leak no descriptor; when descriptors run out the accept loop survives and goes
/// on once some are free again.
#[test]
fn descriptors_run_out_and_come_back() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    for (chosen, name) in
        drivers().into_iter().map(|c| (c, if c.nonblocking() { "epoll" } else { "uring" }))
    {
        let path = module_path!().split_once("::").expect("a module of the crate").1;
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -n 40 && exec \"$0\" --exact --ignored --nocapture \"$1\""])
            .arg(std::env::current_exe().expect("this test has a file"))
            .arg(format!("{path}::few_descriptors_child"))
            .env(CHILD_DRIVER, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell can start");
        let mut orders = child.stdin.take().expect("it is piped");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut hear = || {
            let said = lines.find_map(|line| line.ok()?.strip_prefix("SAYS ").map(str::to_owned));
            said.expect("the child speaks")
        };
        let addr: SocketAddr = hear().parse().expect("its address");
        for _ in 0..200 {
            let mut passing = client(addr);
            assert_eq!(ask(&mut passing, b"q"), b"q");
            assert_eq!(passing.read(&mut [0; 8]).expect("an orderly end"), 0);
        }
        orders.write_all(b"?\n").expect("the child listens");
        assert_eq!(hear(), "0", "{chosen}: no descriptor was leaked");

        let mut many: Vec<_> = (0..60).map(|_| client(addr)).collect();
        assert_eq!(ask(&mut many[0], b"x"), b"x");
        loop {
            orders.write_all(b"?\n").expect("the child listens");
            if hear() != "0" {
                break;
            }
            std::thread::yield_now();
        }
        many.drain(..50);
        assert_eq!(ask(&mut many[9], b"served after all"), b"served after all");
        drop((many, orders));
        assert!(child.wait().expect("the child ends").success());
    }
}
