//! The main thread's part of a run: when to publish, when to go on, when to look at the target.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Job;
use super::found::{Publishes, Times};
use super::publisher::Publisher;
use super::request::Publish;
use super::streams::Task;
use super::tally::{Tally, record};
use super::target::Target;
use crate::live::Snapshot;
use crate::proc::Process;
use crate::report::progress::{Amount, Progress};

/// How often it is looked whether a part of the run is over.
const TICK: Duration = Duration::from_millis(1);

/// Looks at the target while streams are held.
const HOLD_LOOKS: u32 = 10;

/// How long a target may take to let go of closed streams before it is looked at for the last time.
const LET_GO: Duration = Duration::from_secs(2);

/// Leads one run.
pub(crate) struct Lead<'l> {
    job: &'l Job<'l>,
    task: &'l Task,
    interrupted: &'l AtomicBool,
    pub(crate) target: Option<Target>,
    pub(crate) times: Times,
    progress: RefCell<Progress>,
}

impl<'l> Lead<'l> {
    pub(crate) fn new(
        job: &'l Job<'l>,
        task: &'l Task,
        interrupted: &'l AtomicBool,
        target: Option<Target>,
    ) -> Self {
        let args = job.args;
        let amount = match args.events {
            0 => Amount::Time(args.hold),
            events => Amount::Answers(args.streams.saturating_mul(events)),
        };
        let progress = RefCell::new(Progress::new("subscribe", amount));
        Self { job, task, interrupted, target, times: Times::default(), progress }
    }

    /// Waits for the streams, publishes, holds, and says that the streams are to close. The tally has what was wrong
    /// with publishes.
    pub(crate) fn all(&mut self, publish: Option<&Publish>) -> (Publishes, Tally) {
        let stage = &self.task.stage;
        while stage.opened() + stage.failed() < self.task.streams && !self.is_interrupted() {
            self.rest(TICK);
        }
        self.times.opening = stage.base().elapsed();
        self.look(Target::note_opened);
        let (cpu, begun) = (own_cpu(), Instant::now());
        let (mut publishes, tally, right) = self.publish_all(publish);
        publishes.own_cpu = own_cpu().zip(cpu).map(|(end, start)| end.saturating_sub(start));
        self.times.publishing = begun.elapsed();
        self.look(Target::note_published);
        self.hold();
        // Only now: until here an event could still come late.
        for number in right {
            publishes.expected += stage.opened();
            publishes.missed += stage.opened().saturating_sub(stage.arrived(number));
            if let Some(took) = stage.fan_out(number) {
                record(&mut publishes.to_last, took);
            }
        }
        stage.close();
        (publishes, tally)
    }

    /// The last look at the target, when it has let go of the streams or had the time to.
    pub(crate) fn look_after(&mut self) {
        let until = Instant::now() + LET_GO;
        while self.target.as_ref().is_some_and(|target| !target.has_let_go())
            && Instant::now() < until
        {
            thread::sleep(LET_GO / 20);
        }
        self.look(Target::note_closed);
    }

    /// Publishes; also the numbers of the publishes that were answered as they should be.
    fn publish_all(&self, publish: Option<&Publish>) -> (Publishes, Tally, Vec<u64>) {
        let stage = &self.task.stage;
        let (mut tally, mut right) = (Tally::new(), Vec::new());
        let mut publishes = Publishes::new();
        let Some(publish) = publish.filter(|_| stage.opened() > 0) else {
            return (publishes, tally, right);
        };
        let Job { url, timeout, args, .. } = *self.job;
        let mut publisher = Publisher { addr: self.task.addr, url, publish, timeout, kept: None };
        for number in 1..=args.events {
            if self.is_interrupted() {
                break;
            }
            let begun = Instant::now();
            match publisher.send(number, stage) {
                Ok(took) => {
                    record(&mut publishes.to_answer, took);
                    right.push(number);
                    let is_late = || begun.elapsed() >= timeout || self.is_interrupted();
                    while !stage.is_settled(number) && !is_late() {
                        self.rest(TICK);
                    }
                }
                Err(fault) => {
                    publishes.wrong += 1;
                    tally.wrong("publish", number, &fault);
                }
            }
            self.pause(args.event_interval.saturating_sub(begun.elapsed()));
        }
        publishes.right = right.len() as u64;
        (publishes, tally, right)
    }

    /// Holds the streams idle.
    fn hold(&mut self) {
        let begun = Instant::now();
        for _ in 0..HOLD_LOOKS {
            self.pause(self.job.args.hold / HOLD_LOOKS);
            self.look(Target::note_held);
        }
        self.times.holding = begun.elapsed();
    }

    /// Sleeps, unless Ctrl-C comes.
    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.is_interrupted() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.rest(left.min(10 * TICK));
        }
    }

    /// Sleeps a little, and shows where the run is.
    fn rest(&self, time: Duration) {
        thread::sleep(time);
        let stage = &self.task.stage;
        let since = stage.base().elapsed();
        self.progress.borrow_mut().show(&Snapshot::of(stage.cells(), since, self.times.opening));
    }

    fn look(&mut self, note: fn(&mut Target)) {
        if let Some(target) = &mut self.target {
            note(target);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// This program's CPU time so far.
fn own_cpu() -> Option<Duration> {
    Some(Process::own().ok()?.usage().ok()?.cpu)
}
