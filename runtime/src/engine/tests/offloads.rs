//! The offload pool, and the companion runtime.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::{bells, drivers};
use crate::engine::offload::{OffloadError, OffloadHandle, offload};

/// Holds the pool's only thread until told to go on.
fn blocked(pool: &OffloadHandle) -> Sender<()> {
    let (release, held) = channel::<()>();
    let (begun, has_begun): (Sender<()>, Receiver<()>) = channel();
    let waiting = offload(pool, move || {
        begun.send(()).expect("the test waits for it");
        let _ = held.recv();
    });
    has_begun.recv_timeout(super::PATIENCE).expect("the thread takes the job");
    std::mem::forget(waiting);
    release
}

/// Waits on this thread, for what needs no driver.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::task::Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    let start = std::time::Instant::now();
    loop {
        let poll = future.as_mut().poll(&mut std::task::Context::from_waker(&waker));
        if let std::task::Poll::Ready(output) = poll {
            return output;
        }
        assert!(start.elapsed() < super::PATIENCE, "nobody woke the task");
        std::thread::park_timeout(super::PATIENCE);
    }
}

/// A result comes back, a panic costs only its job, a full queue and a closed pool refuse at once.
#[test]
fn jobs_answer_panic_and_are_refused() {
    let pool = OffloadHandle::start(1, 1).expect("a thread can start");
    assert_eq!(wait(offload(&pool, || 6 * 7)), Ok(42));
    assert_eq!(
        wait(offload(&pool, || panic!("a job's own fault"))),
        Err::<(), _>(OffloadError::Panicked)
    );

    let release = blocked(&pool);
    let queued = offload(&pool, || "queued");
    assert_eq!(super::now(offload(&pool, || "too much")), Err(OffloadError::Full));
    release.send(()).expect("the job waits for it");
    assert_eq!(wait(queued), Ok("queued"));

    pool.close();
    assert_eq!(super::now(offload(&pool, || "late")), Err(OffloadError::Closed));
}

/// A job whose future was dropped before it began is never run.
#[test]
fn a_job_nobody_waits_for_is_not_begun() {
    let pool = OffloadHandle::start(1, 4).expect("a thread can start");
    let release = blocked(&pool);
    let (ran, has_run) = channel();
    drop(offload(&pool, move || ran.send(()).expect("the test listens")));
    release.send(()).expect("the job waits for it");
    assert_eq!(wait(offload(&pool, || "after it")), Ok("after it"));
    assert!(has_run.try_recv().is_err());
}

/// The answer's waker comes from the last poll.
#[test]
fn the_last_poll_is_woken() {
    let pool = OffloadHandle::start(1, 4).expect("a thread can start");
    let release = blocked(&pool);
    let mut job = std::pin::pin!(offload(&pool, || ()));
    let (first, one) = bells();
    let (second, two) = bells();
    for waker in [&one, &two] {
        assert!(job.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    release.send(()).expect("the job waits for it");
    assert_eq!(wait(job), Ok(()));
    assert_eq!(first.count(), 0);
    assert!(second.count() <= 1);
}

/// From a plain task of a core, on each driver: the answer finds its way home.
#[test]
fn an_answer_comes_back_to_its_core() {
    use crate::engine::core::{Core, CoreParts, LinkGuard, Serve};
    use crate::engine::worker::{WorkerConfig, start};
    struct Idle;
    impl Serve for Idle {
        type Local = ();
        fn local(&self, _: &CoreParts) {}
        async fn connection(_: std::rc::Rc<Core<Self>>, _: crate::io::TcpLink, _: LinkGuard) {}
    }
    let pool = OffloadHandle::start(2, 64).expect("threads can start");
    for chosen in drivers() {
        let config = WorkerConfig {
            workers: 1,
            pin: false,
            driver: chosen.into(),
            core: super::core_config(),
        };
        let workers =
            start(std::sync::Arc::new(Idle), None, &config).expect("one worker can start");
        let (done, finished) = channel();
        let pool = pool.clone();
        let job = move |core: &std::rc::Rc<Core<Idle>>| {
            core.spawn("offloading", move || async move {
                let mut sum = 0;
                for i in 0..1000_u64 {
                    sum += offload(&pool, move || i).await.expect("the queue has room");
                }
                done.send(sum).expect("the test waits for it");
            });
        };
        assert!(workers.mailboxes()[0].post(Box::new(job)).is_ok());
        assert_eq!(finished.recv_timeout(super::PATIENCE), Ok(499_500));
        workers.drain(0);
        workers.join().expect("the worker ends well");
    }
}

#[cfg(feature = "tokio")]
mod companion {
    use super::{OffloadError, channel, wait};
    use crate::engine::offload::Companion;

    /// A future that needs tokio's timers runs there and its answer comes back; a panic and an abort are told apart.
    #[test]
    fn futures_run_on_tokio() {
        let companion = Companion::lazy(1);
        let slept = companion.on_tokio(async {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            "awake"
        });
        assert_eq!(wait(slept), Ok("awake"));
        let panicked = companion.on_tokio(async { panic!("a future's own fault") });
        assert_eq!(wait(panicked), Err::<(), _>(OffloadError::Panicked));
    }

    /// Dropping the answer aborts the task: what it held is dropped on the companion runtime.
    #[test]
    fn dropping_the_answer_aborts_the_task() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime can start");
        let companion = Companion::given(runtime.handle().clone());
        let (held, dropped) = channel::<()>();
        let answer = companion.on_tokio(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        drop(answer);
        let end = dropped.recv_timeout(super::super::PATIENCE);
        assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
