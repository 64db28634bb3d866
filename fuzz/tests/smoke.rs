//! Every fuzz target on seeded mutations of its corpus: bounded, deterministic, on stable.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ringmcp_fuzz::{Rng, TARGETS, Target};

/// Mutations of each target: the whole run stays within a few seconds in a debug build.
const RUNS: u64 = 20_000;
/// Longest mutated input, in bytes.
const INPUT_BYTES_MAX: usize = 2_048;

/// [SEC-08] [SEC-09] no target panics on its corpus or on what mutations make of it
#[test]
fn every_target_holds() {
    for target in TARGETS {
        target.corpus.iter().for_each(|input| (target.run)(input));
        for seed in 0..RUNS {
            let input = mutate(target, seed);
            let held = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_ok();
            assert!(held, "{} broke, seed {seed}: {}", target.name, input.escape_ascii());
        }
    }
}

/// Every registered target has its binary, and every binary is registered.
#[test]
fn registry_matches_the_binaries() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz_targets");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is part of the crate")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().replace(".rs", ""))
        .collect();
    files.sort();
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
}

fn mutate(target: &Target, seed: u64) -> Vec<u8> {
    let mut rng = Rng(seed);
    let mut input = target.corpus[rng.below(target.corpus.len())].to_vec();
    for _ in 0..1 + rng.below(6) {
        let at = rng.below(input.len() + 1);
        let to = at + rng.below((input.len() - at).min(32) + 1);
        match rng.below(7) {
            0 if at < input.len() => input[at] ^= 1 << rng.below(8),
            1 => drop(input.drain(at..to)),
            2 => insert(&mut input, at, &[rng.next() as u8]),
            3 => {
                let again = input[at..to].to_vec();
                insert(&mut input, at, &again);
            }
            4 => input.truncate(input.len() - rng.below(4).min(input.len())),
            5 => {
                let other = target.corpus[rng.below(target.corpus.len())];
                insert(&mut input, at, &other[rng.below(other.len())..]);
            }
            _ => insert(&mut input, at, target.dictionary[rng.below(target.dictionary.len())]),
        }
    }
    input.truncate(INPUT_BYTES_MAX);
    input
}

fn insert(input: &mut Vec<u8>, at: usize, part: &[u8]) {
    drop(input.splice(at..at, part.iter().copied()));
}
