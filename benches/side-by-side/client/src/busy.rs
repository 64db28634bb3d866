//! Connections that call `echo` as fast as they are answered, while something else is measured.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::crowd::Crowd;
use crate::{wire, Outcome};

const HELLO: &str = r#""text":"hello""#;

pub struct Busy {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<usize, String>>,
}

impl Busy {
    pub fn start(to: SocketAddr, connections: usize) -> Outcome<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let request = wire::call("echo", r#"{"text":"hello"}"#);
        let mut crowd = Crowd::open(to, connections, &request, Some(HELLO))?;
        let thread = thread::spawn({
            let stop = stop.clone();
            move || {
                let mut calls = 0;
                while connections > 0 && !stop.load(Ordering::Relaxed) {
                    crowd.turn(Duration::from_millis(10)).map_err(|error| error.to_string())?;
                    for peer in crowd.peers.iter_mut().filter(|peer| peer.messages > 0) {
                        calls += peer.messages;
                        peer.messages = 0;
                        peer.stream.write_all(&request).map_err(|error| error.to_string())?;
                    }
                }
                Ok(calls)
            }
        });
        Ok(Self { stop, thread })
    }

    /// Ends them; how many calls were answered.
    pub fn stop(self) -> Outcome<usize> {
        self.stop.store(true, Ordering::Relaxed);
        Ok(self.thread.join().map_err(|_| "the busy thread failed")??)
    }
}
