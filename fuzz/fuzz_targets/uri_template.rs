//! Wraps `ringmcp_fuzz::uri_template` for cargo-fuzz; without it this is an empty program.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| ringmcp_fuzz::uri_template(data));

#[cfg(not(fuzzing))]
fn main() {}
