//! Numbers (RFC 8259, 6): integers of 64 bits as they are, all others as the nearest double.

use super::node::Node;
use super::read::{Fault, FaultKind};

/// Digits that fit a `u64` whatever they are.
const DIGITS_SAFE: usize = 19;

/// The powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Reads the number that `rest` begins with, a minus sign or a digit, and steps behind it. What may not
/// stand there is the next reader's to find.
#[inline(never)]
pub(super) fn read<'b>(rest: &'b [u8], nodes: &mut Vec<Node<'b>>) -> Result<&'b [u8], Fault> {
    let sign = usize::from(rest.first() == Some(&b'-'));
    let (value, end) = digits(rest, sign, 0)?;
    // A zero that leads stands alone: the digit behind it will be in nobody's place.
    let end = if rest[sign] == b'0' { sign + 1 } else { end };
    if matches!(rest.get(end), Some(b'.' | b'e' | b'E')) {
        return double(rest, sign, end, value, nodes);
    }
    let (text, behind) = rest.split_at(end);
    let is_exact = end - sign <= DIGITS_SAFE;
    nodes.push(match sign {
        0 if is_exact => Node::U64(value),
        1 if is_exact && value <= 1 << 63 => Node::I64(value.wrapping_neg().cast_signed()),
        _ => long(text, rest)?,
    });
    Ok(behind)
}

/// Adds at least one digit, from `start` on, to `value`, which is right as long as there are
/// [`DIGITS_SAFE`]; also says where they end.
#[inline(always)]
fn digits(rest: &[u8], start: usize, mut value: u64) -> Result<(u64, usize), Fault> {
    let mut at = start;
    while let Some(digit @ 0..10) = rest.get(at).map(|byte| byte.wrapping_sub(b'0')) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    if at == start { Err(Fault::syntax(&rest[at..])) } else { Ok((value, at)) }
}

/// An integer of 20 digits or more, or below `i64`.
#[cold]
fn long<'b>(text: &[u8], rest: &[u8]) -> Result<Node<'b>, Fault> {
    match std::str::from_utf8(text).unwrap_or_default().parse() {
        Ok(number) => Ok(Node::U64(number)),
        Err(_) => nearest(text, rest),
    }
}

/// A number of whose digits the first end at `end`, with this `value`.
fn double<'b>(
    rest: &'b [u8],
    sign: usize,
    mut end: usize,
    mut value: u64,
    nodes: &mut Vec<Node<'b>>,
) -> Result<&'b [u8], Fault> {
    let mut digit_count = end - sign;
    let mut fraction = 0;
    if rest.get(end) == Some(&b'.') {
        let start = end + 1;
        (value, end) = digits(rest, start, value)?;
        fraction = end - start;
        digit_count += fraction;
    }
    let has_exponent = matches!(rest.get(end), Some(b'e' | b'E'));
    if has_exponent {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        (_, end) = digits(rest, end + 1 + sign, 0)?;
    }
    let (text, behind) = rest.split_at(end);
    // Both sides of this division are exact, and so it is rounded once: to the nearest double.
    let is_exact = !has_exponent && digit_count <= DIGITS_SAFE && value <= 1 << 53;
    nodes.push(match POWERS.get(fraction) {
        Some(power) if is_exact => {
            let number = value as f64 / power;
            Node::F64(if sign == 1 { -number } else { number })
        }
        _ => nearest(text, rest)?,
    });
    Ok(behind)
}

/// The double nearest to a well-formed number, if there is one that is finite.
fn nearest<'b>(text: &[u8], rest: &[u8]) -> Result<Node<'b>, Fault> {
    match std::str::from_utf8(text).unwrap_or_default().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Node::F64(number)),
        Ok(_) => Err(Fault { kind: FaultKind::NumberRange, left: rest.len() }),
        Err(_) => Err(Fault::syntax(rest)),
    }
}
