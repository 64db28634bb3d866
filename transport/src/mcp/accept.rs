//! Which answer forms a client takes (HTTP-16, D-24; RFC 9110, 12.5.1).

use super::media_type;

/// The answer forms a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// `application/json`.
    pub json: bool,
    /// `text/event-stream`.
    pub sse: bool,
}

impl Forms {
    /// What an absent `Accept` means.
    pub const ANY: Forms = Forms { json: true, sse: true };

    /// Whether neither form is acceptable: the only ground for a 406.
    pub fn is_none(self) -> bool {
        !self.json && !self.sse
    }
}

/// Reads all `Accept` lines. For each form the most specific range decides, and `q=0` refuses.
///
/// Leniently: no line, empty lines and lines without one well-formed range accept anything; media
/// type parameters other than `q` are ignored; an unreadable `q` counts as 1.
pub fn parse<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Forms {
    let mut ranges = 0usize;
    let (mut json, mut sse) = (Verdict::default(), Verdict::default());
    for element in values.into_iter().flat_map(media_type::elements) {
        let (range, parameters) = media_type::split(element);
        let Some((kind, subtype)) = split_range(range) else {
            continue;
        };
        ranges += 1;
        let accepted = parameters
            .flatten()
            .find(|(key, _)| key.eq_ignore_ascii_case(b"q"))
            .is_none_or(|(_, weight)| !is_zero(weight));
        json.weigh(kind, subtype, (b"application", b"json"), accepted);
        sse.weigh(kind, subtype, (b"text", b"event-stream"), accepted);
    }
    if ranges == 0 { Forms::ANY } else { Forms { json: json.accepted, sse: sse.accepted } }
}

/// The answer of the most specific range so far.
#[derive(Default)]
struct Verdict {
    /// 0: no range matched; 1: `*/*`; 2: `type/*`; 3: the type itself.
    rank: u8,
    accepted: bool,
}

impl Verdict {
    fn weigh(&mut self, kind: &[u8], subtype: &[u8], form: (&[u8], &[u8]), accepted: bool) {
        let rank = match (kind, subtype) {
            (b"*", b"*") => 1,
            (kind, b"*") if kind.eq_ignore_ascii_case(form.0) => 2,
            (kind, subtype)
                if kind.eq_ignore_ascii_case(form.0) && subtype.eq_ignore_ascii_case(form.1) =>
            {
                3
            }
            _ => return,
        };
        if rank > self.rank {
            *self = Verdict { rank, accepted };
        } else if rank == self.rank {
            self.accepted |= accepted;
        }
    }
}

fn split_range(range: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = memchr::memchr(b'/', range)?;
    let (kind, subtype) = (&range[..slash], &range[slash + 1..]);
    (!kind.is_empty() && !subtype.is_empty()).then_some((kind, subtype))
}

/// `0`, `0.`, `0.0` ... (RFC 9110, 12.4.2).
fn is_zero(weight: &[u8]) -> bool {
    match weight {
        [b'0'] => true,
        [b'0', b'.', digits @ ..] => digits.iter().all(|digit| *digit == b'0'),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
