//! Member names as numbers, to be compared at once.

/// Of two names of the same length, up to this many bytes, the outlines are equal only if the names are.
pub const OUTLINED_BYTES_MAX: usize = 8;

/// A number that is the same for equal names and rarely for others: the first four bytes, the last four, the length.
#[inline]
pub fn outline(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (start, end) = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(start), Some(end)) => (u32::from_le_bytes(*start), u32::from_le_bytes(*end)),
        _ => (bytes.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte)), 0),
    };
    (u64::from(start) << 32 | u64::from(end)) ^ ((bytes.len() as u64) << 25)
}
