//! Wraps `ringmcp_fuzz::json` for cargo-fuzz; without it this is an empty program.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ringmcp_fuzz::json(data));

#[cfg(not(fuzzing))]
fn main() {}
