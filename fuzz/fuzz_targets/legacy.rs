//! Wraps `ringmcp_fuzz::legacy` for cargo-fuzz; without it this is an empty program.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ringmcp_fuzz::legacy(data));

#[cfg(not(fuzzing))]
fn main() {}
