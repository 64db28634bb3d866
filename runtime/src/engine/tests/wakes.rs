//! Wakes, nudges and jobs that cross threads.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use super::{bells, core_config, drivers};
use crate::engine::core::{Core, CoreParts, LinkGuard, Serve};
use crate::engine::mailbox::{Inbox, Mailbox};
use crate::engine::wake::{Portable, TaskWaker};
use crate::engine::worker::{WorkerConfig, start};
use crate::io::TcpLink;

/// Records what its core was told.
struct Listener;

impl Serve for Listener {
    type Local = RefCell<Vec<String>>;

    fn local(&self, _: &CoreParts) -> Self::Local {
        RefCell::default()
    }

    async fn connection(_: Rc<Core<Self>>, _: TcpLink, _: LinkGuard) {}

    fn nudged(core: &Rc<Core<Self>>, bits: u32) {
        core.app.borrow_mut().push(format!("nudge {bits:b}"));
    }
}

fn simulated() -> (Rc<Core<Listener>>, Mailbox<Listener>, Inbox<Listener>) {
    Core::simulated(Arc::new(Listener), &core_config(), 0).expect("a socket pair can be made")
}

/// On its own thread a wake is direct, from another it waits for the inbox; either way it reaches the task once.
#[test]
fn a_wake_reaches_its_task_from_both_sides() {
    let (core, _mailbox, inbox) = simulated();
    let (task, local) = bells();
    let wakes = TaskWaker::new(&core.wakes);
    let away = wakes.with(&Context::from_waker(&local), |cx| cx.waker().clone());

    away.wake_by_ref();
    assert_eq!(task.count(), 1);

    let sent = away.clone();
    std::thread::spawn(move || {
        sent.wake_by_ref();
        sent.wake();
    })
    .join()
    .expect("waking cannot panic");
    assert_eq!(task.count(), 1, "not before the inbox is opened");
    inbox.deliver(&core);
    assert_eq!(task.count(), 2, "two wakes of one task are one");
    inbox.deliver(&core);
    assert_eq!(task.count(), 2);
}

/// A waker of a connection that has ended wakes nobody, not even the next owner of its place, and neither does one of a
/// core that has ended.
#[test]
fn stale_wakes_are_harmless() {
    let (core, mailbox, inbox) = simulated();
    let (task, local) = bells();
    let first = TaskWaker::new(&core.wakes);
    let stale = first.waker().clone();
    drop(first);
    let second = TaskWaker::new(&core.wakes);
    second.attach(&local);
    stale.wake_by_ref();
    let sent = stale.clone();
    std::thread::spawn(move || sent.wake()).join().expect("waking cannot panic");
    inbox.deliver(&core);
    assert_eq!(task.count(), 0);

    let late = second.waker().clone();
    core.wakes.close();
    late.wake_by_ref();
    let sent = late.clone();
    std::thread::spawn(move || sent.wake()).join().expect("waking cannot panic");
    inbox.deliver(&core);
    assert_eq!(task.count(), 0);
    drop((local, mailbox));
    assert_eq!(Arc::strong_count(&task), 1, "a closed core keeps no waker");
}

/// A simulated core that is dropped leaves nothing behind on its thread.
#[test]
fn a_dropped_core_is_forgotten() {
    let (core, _mailbox, inbox) = simulated();
    let table = Rc::downgrade(&core.wakes);
    drop((core, inbox));
    assert!(table.upgrade().is_none());
}

/// What a future hands away through `Portable` wakes the task it was last polled by.
#[test]
fn a_portable_waker_follows_its_task() {
    let (_core, _mailbox, _inbox) = simulated();
    let mut portable = Portable::default();
    let (first, one) = bells();
    let (second, two) = bells();
    let away = portable.with(&mut Context::from_waker(&one), |cx| cx.waker().clone());
    let again = portable.with(&mut Context::from_waker(&two), |cx| cx.waker().clone());
    assert!(again.will_wake(&away) && !away.will_wake(&two));
    away.wake();
    assert_eq!((first.count(), second.count()), (0, 1));
}

/// Jobs run in order and are given back when the queue is full; nudges join and are never refused.
#[test]
fn jobs_are_bounded_and_nudges_are_not_lost() {
    let (core, mailbox, inbox) = simulated();
    for i in 0..core_config().mailbox_depth {
        let job = move |core: &Rc<Core<Listener>>| core.app.borrow_mut().push(i.to_string());
        assert!(mailbox.post(Box::new(job)).is_ok());
    }
    assert!(mailbox.post(Box::new(|_| unreachable!("refused"))).is_err());
    mailbox.nudge(0b01);
    mailbox.nudge(0b10);
    inbox.deliver(&core);
    let expected: Vec<_> = std::iter::once("nudge 11".to_owned())
        .chain((0..core_config().mailbox_depth).map(|i| i.to_string()))
        .collect();
    assert_eq!(*core.app.borrow(), expected);
    assert!(mailbox.post(Box::new(|_| panic!("a job's own fault"))).is_ok());
    inbox.deliver(&core);
    assert_eq!(core.counters.panics.get(), 1);
    drop(inbox);
    assert!(mailbox.post(Box::new(|_| {})).is_err(), "nobody would run it");
}

const WAKERS: u64 = 4;
const WAKES: u64 = 100_000;

/// 100 000 wakes from four threads, on each driver: after the last one its task has seen every count, and in lock step,
/// where each wake is the only one under way, none is lost either.
#[test]
fn no_wake_is_lost_between_threads() {
    for chosen in drivers() {
        let config =
            WorkerConfig { workers: 1, pin: false, driver: chosen.into(), core: core_config() };
        let workers = start(Arc::new(Listener), None, &config).expect("one worker can start");
        let (done, finished) = std::sync::mpsc::channel();
        let threads: Vec<_> = (0..WAKERS)
            .map(|lane| {
                let (hand, waker) = std::sync::mpsc::channel::<Waker>();
                let count = Arc::new(AtomicU64::new(0));
                let seen = Arc::new(AtomicU64::new(0));
                let (task_count, task_seen, task_done) =
                    (count.clone(), seen.clone(), done.clone());
                let job = move |core: &Rc<Core<Listener>>| {
                    let wakes = TaskWaker::new(&core.wakes);
                    hand.send(wakes.waker().clone()).expect("the thread waits for it");
                    core.spawn("counting", move || async move {
                        let counted = poll_fn(|cx| {
                            wakes.with(cx, |_| {
                                let count = task_count.load(Ordering::SeqCst);
                                task_seen.store(count, Ordering::SeqCst);
                                if count == WAKES / WAKERS {
                                    Poll::Ready(())
                                } else {
                                    Poll::Pending
                                }
                            })
                        });
                        counted.await;
                        task_done.send(lane).expect("the test waits for it");
                    });
                };
                assert!(workers.mailboxes()[0].post(Box::new(job)).is_ok());
                std::thread::spawn(move || {
                    let waker = waker.recv().expect("the job sends it");
                    for i in 1..=WAKES / WAKERS {
                        count.store(i, Ordering::SeqCst);
                        waker.wake_by_ref();
                        // One lane waits for each wake's effect; the others run free.
                        while lane == 0 && seen.load(Ordering::SeqCst) < i {
                            std::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        for _ in 0..WAKERS {
            finished.recv_timeout(super::PATIENCE).expect("every lane's last wake arrives");
        }
        threads.into_iter().for_each(|thread| thread.join().expect("waking cannot panic"));
        workers.drain(0);
        workers.join().expect("the worker ends well");
    }
}
