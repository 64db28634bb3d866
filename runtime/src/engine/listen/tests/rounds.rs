//! Many streams of one core, told in rounds.

use std::pin::Pin;

use super::*;
use crate::engine::rounds::go_on;
use crate::hub::WOKEN_PER_TURN_MAX;

const STREAMS: usize = 600;

/// A core with many streams and its task that goes on with rounds; one turn takes a millisecond.
struct Crowd {
    sim: Sim,
    readers: Vec<Reader>,
    telling: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Woken>,
}

impl Crowd {
    fn new() -> Crowd {
        let sim = Sim::new();
        let readers =
            (0..STREAMS).map(|_| sim.listen(sim.subscribe(&["u:a"]), PACE, 4096)).collect();
        let mut crowd = Crowd { sim, readers, telling: None, woken: Arc::default() };
        crowd.readers.iter_mut().for_each(Reader::read);
        crowd
    }

    fn update(&self) {
        self.sim.exchange.offer(&Event::ResourceUpdated("u:a".into()));
    }

    /// One turn of the core. Returns how many streams were told something.
    fn turn(&mut self) -> usize {
        self.sim.advance(1);
        if self.sim.hub.deliver() {
            assert!(self.telling.is_none(), "one task at a time");
            let core = Rc::clone(&self.sim.core);
            self.telling = Some(Box::pin(go_on(core, Rc::clone(&self.sim.hub))));
            self.woken.0.store(true, Ordering::Relaxed);
        }
        let mut told = 0;
        for reader in &mut self.readers {
            let before = reader.text.len();
            reader.read();
            told += usize::from(reader.text.len() > before);
        }
        if self.woken.0.swap(false, Ordering::Relaxed)
            && let Some(task) = &mut self.telling
        {
            let waker = Waker::from(Arc::clone(&self.woken));
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.telling = None;
            }
        }
        told
    }

    /// How often each stream was told, the fewest and the most.
    fn messages(&self) -> (usize, usize) {
        let counts = self.readers.iter().map(|reader| reader.events().0.len() - 1);
        counts.fold((usize::MAX, 0), |(least, most), n| (least.min(n), most.max(n)))
    }
}

/// [SSE-11] one turn of a core tells a bounded number of streams, whose writes are all that its other work waits for
#[test]
fn a_turn_tells_a_bounded_number_of_streams() {
    let mut crowd = Crowd::new();
    crowd.update();
    let mut turns = Vec::new();
    while turns.iter().sum::<usize>() < STREAMS {
        turns.push(crowd.turn());
        assert!(turns.len() < 100, "{turns:?}");
    }
    assert!(turns.iter().all(|told| *told <= WOKEN_PER_TURN_MAX), "{turns:?}");
    assert_eq!(crowd.messages(), (1, 1));
}

/// [SSE-11] [SUB-20] a burst of changes that is over within a round is told three times at most, and last of all after
/// its end
#[test]
fn a_burst_is_told_in_few_messages() {
    for turns in [1, 4, 10] {
        let mut crowd = Crowd::new();
        for _ in 0..turns {
            (0..1000 / turns).for_each(|_| crowd.update());
            crowd.turn();
        }
        // As if everything so far had not been read: what follows is told after the last update.
        let before: Vec<usize> = crowd.readers.iter().map(|reader| reader.text.len()).collect();
        crowd.update();
        for _ in 0..200 {
            crowd.turn();
        }
        let all = crowd.readers.iter().zip(before);
        assert!(all.into_iter().all(|(reader, before)| reader.text.len() > before), "none stale");
        let (least, most) = crowd.messages();
        assert!(least >= 1 && most <= 3, "{turns} turns: {least} to {most} messages");
        assert!(crowd.telling.is_none(), "nothing goes on when there is nothing to tell");
        crowd.readers.clear();
        crowd.sim.assert_empty();
    }
}

/// [SSE-11] however long changes go on, a core tells its streams for half of its turns at most
#[test]
fn a_core_rests_between_rounds() {
    const TURNS: usize = 500;
    let mut crowd = Crowd::new();
    let told = (0..TURNS).filter(|_| {
        crowd.update();
        crowd.turn() > 0
    });
    let told = told.count();
    let round = STREAMS.div_ceil(WOKEN_PER_TURN_MAX);
    assert!((TURNS / 4..=TURNS / 2 + 2 * round).contains(&told), "{told} of {TURNS} turns");
}
