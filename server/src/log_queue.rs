//! The log on its way to standard error under `--stdio`: the client that has started the process may not read it, and a
//! full pipe must hold up no answer.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Lines that wait for a slow reader; further ones are dropped.
const LINES_MAX: usize = 4096;

/// How long the end of the process waits for the last lines, in steps of [`STEP`].
const STEPS_MAX: usize = 50;
const STEP: Duration = Duration::from_millis(5);

/// The queue. Dropping it waits a moment for what is still in it.
pub(crate) struct LogQueue {
    sender: SyncSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl LogQueue {
    /// Starts the thread that writes.
    pub(crate) fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel(LINES_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let written = Arc::clone(&waiting);
        thread::Builder::new().name("log".to_owned()).spawn(move || write(&receiver, &written))?;
        Ok(Self { sender, waiting })
    }

    /// Makes a writer for each line.
    pub(crate) fn lines(&self) -> impl Fn() -> Line + Send + Sync + 'static {
        let (sender, waiting) = (self.sender.clone(), Arc::clone(&self.waiting));
        move || Line { sender: sender.clone(), waiting: Arc::clone(&waiting) }
    }
}

impl Drop for LogQueue {
    fn drop(&mut self) {
        for _ in 0..STEPS_MAX {
            if self.waiting.load(Ordering::Acquire) == 0 {
                return;
            }
            thread::sleep(STEP);
        }
    }
}

fn write(receiver: &Receiver<Vec<u8>>, waiting: &AtomicUsize) {
    for line in receiver {
        // Nobody may be reading: that is no reason to stop.
        let _ = io::stderr().write_all(&line);
        waiting.fetch_sub(1, Ordering::Release);
    }
}

/// Takes one line, which is written to it whole.
pub(crate) struct Line {
    sender: SyncSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.waiting.fetch_add(1, Ordering::Acquire);
        if self.sender.try_send(line.to_vec()).is_err() {
            self.waiting.fetch_sub(1, Ordering::Release);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
