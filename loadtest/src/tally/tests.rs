//! Percentiles are those of the sorted latencies, to the histogram's precision, however many workers counted.

use proptest::prelude::*;

use super::*;

fn sent(origin: Instant, measured: bool, late_ns: u64) -> Sent {
    Sent {
        id: 1,
        measured,
        intended: origin,
        at: origin + Duration::from_nanos(late_ns),
        sent_bytes: 3,
        received_bytes: 5,
        exchanges: 2,
        notifications: 1,
        part: 0,
    }
}

/// The smallest latency that at least this share of all do not exceed.
fn exact(sorted: &[u64], quantile: f64) -> u64 {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

proptest! {
    // A case makes a dozen histograms of an hour each.
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any latencies from a microsecond to a minute, over three workers, against the sorted list of them.
    #[test]
    fn percentiles(latencies in prop::collection::vec(1_000_u64..60_000_000_000, 1..400), late in 0_u64..1_000) {
        let origin = Instant::now();
        let mut tallies: Vec<_> = (0..3).map(|_| Tally::new(true, &["part".to_owned()])).collect();
        for (place, latency) in latencies.iter().enumerate() {
            let now = origin + Duration::from_nanos(*latency);
            tallies[place % 3].right(&sent(origin, true, late), now);
            tallies[place % 3].right(&sent(origin, false, late), now);
        }
        let others = tallies.split_off(1);
        let mut tally = tallies.remove(0);
        others.into_iter().for_each(|other| tally.merge(other));
        let mut sorted = latencies.clone();
        sorted.sort_unstable();
        prop_assert_eq!(tally.ok, sorted.len() as u64);
        prop_assert_eq!(tally.sent_bytes, 3 * tally.ok);
        prop_assert_eq!((tally.exchanges, tally.notifications), (2 * tally.ok, tally.ok));
        for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let exact = exact(&sorted, quantile) as f64;
            let uncorrected = tally.uncorrected.as_ref().expect("there is a rate");
            let shown = [
                (tally.latencies.value_at_quantile(quantile), exact),
                (tally.parts[0].latencies.value_at_quantile(quantile), exact),
                (uncorrected.value_at_quantile(quantile), exact - late as f64),
            ];
            for (shown, exact) in shown {
                let error = (shown as f64 - exact).abs() / exact;
                prop_assert!(error <= 0.001, "{} shown for {}", shown, exact);
            }
        }
    }
}
