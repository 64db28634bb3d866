//! Servers on ports from the kernel, raw requests, and answers that are validated against the published schema.

mod answer;
mod published;
mod request;
mod schema;
mod stream;

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub use answer::{Answer, read_answer};
#[allow(unused_imports, reason = "not every test binary has a schema of its own")]
pub use published::Published;
#[allow(unused_imports, reason = "not every test binary needs every key")]
pub use request::{CC, CI, LL, PV, Request, VERSION};
pub use schema::validate;
pub use stream::Events;

use ringmcp::{Builder, Driver, Error, Handle};

/// Longer than anything here takes: reaching it is the failure of the test.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A server that is drained when the test ends.
pub struct Running {
    handle: Option<Handle>,
    pub addr: SocketAddr,
}

impl Running {
    pub fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("taken only by stop")
    }

    /// Drains and waits.
    pub fn stop(mut self) {
        let handle = self.handle.take().expect("taken only here");
        handle.drain(Duration::from_secs(5));
        handle.join().expect("the workers end");
    }

    /// Opens a connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
        stream.set_nodelay(true).expect("a socket option");
        stream
    }

    /// Opens a connection and writes to it.
    pub fn begin(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        support_write(&mut stream, bytes);
        stream
    }

    /// One request on a connection of its own.
    pub fn send(&self, request: &Request) -> Answer {
        self.send_raw(&request.bytes())
    }

    /// Raw bytes on a connection of their own; the first final answer.
    pub fn send_raw(&self, bytes: &[u8]) -> Answer {
        read_answer(&mut self.begin(bytes)).expect("an answer")
    }

    /// Opens an event stream: the request must be answered by one.
    pub fn stream(&self, request: &Request) -> Events {
        Events::open(self.begin(&request.bytes()))
    }

    /// Waits until `done` holds for the counters: they are written by other threads.
    pub fn until(&self, what: &str, done: impl Fn(&ringmcp::Counters) -> bool) {
        let end = std::time::Instant::now() + PATIENCE;
        while !done(&self.handle().counters()) {
            assert!(std::time::Instant::now() < end, "{what}: {:?}", self.handle().counters());
            std::thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.drain(Duration::ZERO);
            drop(handle.join());
        }
    }
}

/// Writes without minding that the server may close first.
pub fn support_write(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = std::io::Write::write_all(stream, bytes);
}

/// One worker on the default driver.
pub fn serve(builder: Builder) -> Running {
    serve_on(builder, Driver::Auto, 1)
}

/// So many workers on one driver.
pub fn serve_on(builder: Builder, driver: Driver, workers: usize) -> Running {
    let handle = builder
        .driver(driver)
        .workers(workers)
        .bind("127.0.0.1:0")
        .start()
        .unwrap_or_else(|error| panic!("the server starts: {error}"));
    let addr = handle.address().expect("it listens");
    Running { handle: Some(handle), addr }
}

/// The same test on both drivers; where io_uring is forbidden, on epoll alone, loudly.
pub fn on_both_drivers(make: impl Fn() -> Builder, test: impl Fn(&Running)) {
    let uring = make().driver(Driver::Uring).workers(1).bind("127.0.0.1:0").start();
    match uring {
        Ok(handle) => {
            let addr = handle.address().expect("it listens");
            test(&Running { handle: Some(handle), addr });
        }
        Err(Error::Driver(why)) => eprintln!("SKIPPED: the io_uring half of this test: {why}"),
        Err(error) => panic!("the server starts: {error}"),
    }
    test(&serve_on(make(), Driver::Epoll, 1));
}
