//! Wraps `ringmcp_fuzz::state` for cargo-fuzz; without it this is an empty program.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ringmcp_fuzz::state(data));

#[cfg(not(fuzzing))]
fn main() {}
