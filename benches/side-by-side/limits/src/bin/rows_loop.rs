//! What simd-json itself takes for a call of `rows_sum`: parsing and the handler's type, nothing else.
//!
//! rows_loop FILE [--documents N] prints CPU time per document in microseconds. FILE is the body of the request.

use std::hint::black_box;

use nix::time::ClockId;
use serde::Deserialize;

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    method: &'a str,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    arguments: Rows,
}

/// As the server's handler takes it: it owns its text.
#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[allow(dead_code)] // Made, as the handler's is, and not looked at.
struct Row {
    id: u64,
    name: String,
    active: bool,
    score: f64,
    tags: Vec<String>,
    pos: Position,
    note: Option<String>,
}

#[derive(Deserialize)]
#[allow(dead_code)] // As above.
struct Position {
    lat: f64,
    lon: f64,
    alt: Option<f64>,
}

/// Documents before the clock starts.
const WARM: usize = 3;

fn main() {
    let file = std::env::args().nth(1).expect("rows_loop FILE [--documents N]");
    let body = std::fs::read(file).expect("the file can be read");
    let documents: usize =
        limits::arg("--documents", "20").parse().expect("--documents takes a number");
    let mut copy = Vec::with_capacity(body.len() + 64);
    let mut buffers = simd_json::Buffers::default();
    let mut spent = 0;
    for document in 0..WARM + documents {
        copy.clear();
        copy.extend_from_slice(&body);
        // Getting the bytes is the input's cost, not the parser's.
        let before = cpu_ns();
        let call: Call = simd_json::serde::from_slice_with_buffers(&mut copy, &mut buffers)
            .expect("the body fits");
        assert_eq!(call.method, "tools/call");
        black_box(
            call.params.arguments.rows.iter().fold(0_u64, |sum, row| sum.wrapping_add(row.id)),
        );
        drop(call);
        if document >= WARM {
            spent += cpu_ns() - before;
        }
    }
    println!("{:.1}", spent as f64 / documents as f64 / 1e3);
}

fn cpu_ns() -> i64 {
    let spent = ClockId::CLOCK_PROCESS_CPUTIME_ID.now().expect("every process has this clock");
    spent.tv_sec() * 1_000_000_000 + spent.tv_nsec()
}
