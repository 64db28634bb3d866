//! Schedules are kept to the nanosecond, over any number of workers.

use super::*;

const WARMUP: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

fn open(index: u64, count: u64, rate: f64, requests: Option<u64>) -> Pace {
    let place = Place { index, count };
    let duration = requests.is_none().then_some(SECOND);
    Pace::open(place, Schedule::new(place, rate, WARMUP, duration, requests))
}

/// Takes everything that is due at `now`.
fn drain(pace: &Pace, now: Instant) -> Vec<Turn> {
    std::iter::from_fn(|| match pace.take(now, false) {
        Take::Turn(turn) => Some(turn),
        Take::Later | Take::Over => None,
    })
    .collect()
}

/// However unevenly the clock is looked at, each worker's operations are due where the rate says, once each.
#[test]
fn a_rate_is_exact() {
    let begun = Instant::now();
    let (mut due, mut ids, mut measured) = (Vec::new(), Vec::new(), 0);
    for index in 0..3 {
        let pace = open(index, 3, 7_000.0, None);
        assert_eq!(pace.take(begun, false), Take::Later, "not before the load begins");
        pace.begin(begun);
        for step in 0..400_u32 {
            let overdue =
                pace.schedule().unwrap().overdue(begun + step * 3 * Duration::from_millis(1));
            let turns = drain(&pace, begun + step * 3 * Duration::from_millis(1));
            if pace.phase() != Phase::Over {
                // What is due at this very nanosecond may be rounded into the next look.
                assert!(overdue.abs_diff(turns.len() as u64) <= 1, "at step {step}");
            }
            due.extend(turns.iter().map(|turn| turn.intended.unwrap() - begun));
            ids.extend(turns.iter().map(|turn| turn.id));
            measured += turns.iter().filter(|turn| turn.measured).count();
        }
        let kept = pace.schedule().unwrap().kept();
        assert_eq!((pace.phase(), kept.unsent), (Phase::Over, 0));
    }
    due.sort_unstable();
    ids.sort_unstable();
    assert_eq!((due.len(), measured), (7_700, 7_000));
    for (number, due) in due.iter().enumerate() {
        let exact = number as f64 / 7_000.0;
        assert!((due.as_secs_f64() - exact).abs() < 3e-9, "operation {number} at {due:?}");
    }
    ids.dedup();
    assert_eq!(ids.len(), 7_700, "no id twice");
}

/// What could not be started is told: for want of a connection, by this program's fault, or never.
#[test]
fn lateness_has_names() {
    let begun = Instant::now();
    let pace = open(0, 1, 1_000.0, None);
    pace.begin(begun);
    drain(&pace, begun + WARMUP);
    // At 100 ms into the measured part, 99 are due that were not seen to; all but the last millisecond's are late.
    let now = begun + WARMUP + Duration::from_millis(99);
    for _ in 0..40 {
        assert!(matches!(pace.take(now, true), Take::Turn(turn) if turn.measured));
    }
    assert!(matches!(pace.take(now, false), Take::Turn(_)));
    let end = begun + WARMUP + SECOND;
    assert_eq!(pace.take(end + GRACE, false), Take::Over);
    let kept = pace.schedule().unwrap().kept();
    assert_eq!((kept.started, kept.waited, kept.tardy), (42, 40, 1));
    assert_eq!(kept.unsent, 1_000 - 42);
}

/// [`Pace::closed`] gives out exactly as many measured turns as there are, over all workers.
#[test]
fn a_number_is_exact() {
    let left = Arc::new(AtomicU64::new(10));
    let workers: Vec<_> =
        (0..3).map(|index| Pace::closed(Place { index, count: 3 }, Some(left.clone()))).collect();
    let now = Instant::now();
    let mut measured = 0;
    for pace in &workers {
        assert!(matches!(pace.take(now, false), Take::Turn(Turn { measured: false, .. })));
        pace.start_measuring();
    }
    while let Some(turn) = workers.iter().find_map(|pace| match pace.take(now, false) {
        Take::Turn(turn) => Some(turn),
        _ => None,
    }) {
        assert!(turn.measured);
        measured += 1;
    }
    assert_eq!(measured, 10);
    let pace = open(0, 1, 1_000.0, Some(5));
    pace.begin(now);
    assert_eq!(drain(&pace, now + SECOND).iter().filter(|turn| turn.measured).count(), 5);
    assert_eq!(pace.phase(), Phase::Over);
    assert_eq!(pace.schedule().unwrap().kept().unsent, 0);
}
