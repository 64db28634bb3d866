//! A `file:` URI as path segments that cannot leave the directory they are joined below (RES-09).
//! Text only: symbolic links are for whoever opens the file, with `RESOLVE_BENEATH` or its like.

use std::borrow::Cow;
use std::fmt;

use super::percent;
use super::syntax::is_valid;

/// Why a URI names no servable file. The peer learns only that the resource does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFault {
    /// Not a valid URI of scheme `file` with an absolute path, or one with a query or fragment.
    NotFile,
    /// On another host than this one.
    Host,
    /// A segment that is empty, `.`, `..` or made of dots and blanks.
    Traversal,
    /// A segment with a separator, a control character, or bytes that are not UTF-8, after decoding.
    Character,
    /// A segment that is still percent-encoded after decoding once.
    DoubleEncoding,
    /// A drive letter or a device name, which some systems resolve from anywhere.
    Device,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileFault::NotFile => "not a file URI with an absolute path",
            FileFault::Host => "file URI names another host",
            FileFault::Traversal => "file URI has an empty or dot segment",
            FileFault::Character => "file URI has an illegal character in a segment",
            FileFault::DoubleEncoding => "file URI is percent-encoded twice",
            FileFault::Device => "file URI names a drive or device",
        })
    }
}

impl std::error::Error for FileFault {}

/// The path segments of a `file:` URI from the root down, percent-decoded exactly once. A trailing `/`
/// leaves no segment. Stricter than any one system: a name that is special on some system is refused
/// on all, and so is a name that would decode again.
///
/// # Errors
/// [`FileFault`], the first fault found.
pub fn file_segments(uri: &str) -> Result<Vec<Cow<'_, str>>, FileFault> {
    if !is_valid(uri) || uri.contains(['?', '#']) {
        return Err(FileFault::NotFile);
    }
    let (scheme, rest) = uri.split_once(':').ok_or(FileFault::NotFile)?;
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(FileFault::NotFile);
    }
    let path = match rest.strip_prefix("//") {
        Some(after) => {
            let (host, _) = after.split_once('/').ok_or(FileFault::NotFile)?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(FileFault::Host);
            }
            &after[host.len()..]
        }
        None => rest,
    };
    let path = path.strip_prefix('/').ok_or(FileFault::NotFile)?;
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/').map(segment).collect()
}

fn segment(raw: &str) -> Result<Cow<'_, str>, FileFault> {
    let name = percent::decode(raw).ok_or(FileFault::Character)?;
    if name.chars().all(|ch| matches!(ch, '.' | ' ')) {
        return Err(FileFault::Traversal);
    }
    if name.contains(|ch: char| matches!(ch, '/' | '\\') || ch.is_control()) {
        return Err(FileFault::Character);
    }
    if (0..name.len()).any(|at| percent::triplet(&name.as_bytes()[at..]).is_some()) {
        return Err(FileFault::DoubleEncoding);
    }
    if is_device(&name) {
        return Err(FileFault::Device);
    }
    Ok(name)
}

/// `C:` and what follows it; `CON`, `com1.txt` and their like.
fn is_device(name: &str) -> bool {
    if matches!(name.as_bytes(), [letter, b':' | b'|', ..] if letter.is_ascii_alphabetic()) {
        return true;
    }
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let numbered = ["COM", "LPT"].iter().any(|port| {
        stem.strip_prefix(port).is_some_and(|number| {
            let mut digits = number.chars();
            // Windows takes the superscripts one to three for digits.
            let digit =
                |ch: char| ch.is_ascii_digit() || matches!(ch, '\u{b9}' | '\u{b2}' | '\u{b3}');
            digits.next().is_some_and(digit) && digits.next().is_none()
        })
    });
    numbered || ["AUX", "CON", "CONIN$", "CONOUT$", "NUL", "PRN"].contains(&stem.as_str())
}
