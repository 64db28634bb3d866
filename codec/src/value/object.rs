//! Object values, and the rule for repeated member names: the first counts, for lookups, iteration,
//! deserialisation and copies alike, so that a check and the code behind it never see different
//! values (ledger RPC-19).

use std::collections::HashSet;

use super::outline::outline;
use super::{Value, parse_empty_object, split_value};
use crate::document::Node;
use crate::limits::PAIRWISE_MEMBERS_MAX;

/// The members of an object.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    len: usize,
    /// The whole object. Invariant: its head is an object's, below it come name, value, name,
    /// value.
    value: Value<'a>,
}

impl<'a> Object<'a> {
    /// `{}`.
    pub fn empty() -> Object<'static> {
        Object { len: 0, value: parse_empty_object() }
    }

    #[inline]
    pub(super) fn over(len: usize, value: Value<'a>) -> Object<'a> {
        Object { len, value }
    }

    /// The object as a value again.
    pub fn as_value(self) -> Value<'a> {
        self.value
    }

    /// Number of members as written, repeated names included.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The first member of that name. Linear in the number of members.
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.iter().find(|(member, _)| *member == name).map(|(_, value)| value)
    }

    /// Every member as written, repeated names included.
    #[inline]
    pub fn iter(self) -> RawMembers<'a> {
        RawMembers { left: self.len, nodes: self.value.below() }
    }

    /// Every member whose name has not come before. Allocates for objects of more than
    /// [`PAIRWISE_MEMBERS_MAX`] members, and only for those.
    #[inline]
    pub fn members(self) -> Members<'a> {
        let seen = if self.len <= PAIRWISE_MEMBERS_MAX {
            Seen::Few { all: self.iter(), marks: [0; MARK_WORDS] }
        } else if self.has_duplicate_keys() {
            Seen::Names(HashSet::new())
        } else {
            Seen::Nothing
        };
        Members { raw: self.iter(), seen }
    }

    /// Whether a name is repeated. Pairwise for small objects, n log n for large ones.
    pub fn has_duplicate_keys(self) -> bool {
        if self.len < 2 {
            return false;
        }
        if self.len > PAIRWISE_MEMBERS_MAX {
            return self.repeats_a_name();
        }
        // Most names differ in their outline already, and numbers are compared many at a time.
        let mut outlines = [0; PAIRWISE_MEMBERS_MAX];
        for (at, (name, _)) in self.iter().take(PAIRWISE_MEMBERS_MAX).enumerate() {
            let own = outline(name);
            if outlines[..at].iter().fold(false, |met, other| met | (*other == own)) {
                return self.repeats_a_name();
            }
            outlines[at] = own;
        }
        false
    }

    fn repeats_a_name(self) -> bool {
        let mut names: Vec<&str> = self.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// How many members have that name.
    pub fn count(self, name: &str) -> usize {
        self.iter().filter(|(member, _)| *member == name).count()
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (&'a str, Value<'a>);
    type IntoIter = Members<'a>;

    fn into_iter(self) -> Members<'a> {
        self.members()
    }
}

/// Iterator over the members as written.
#[derive(Clone)]
pub struct RawMembers<'a> {
    left: usize,
    nodes: &'a [Node<'a>],
}

impl<'a> Iterator for RawMembers<'a> {
    type Item = (&'a str, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (Node::String(name), rest) = self.nodes.split_first()? else { return None };
        let (value, rest) = split_value(rest)?;
        self.nodes = rest;
        self.left = self.left.saturating_sub(1);
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Iterator over the members whose name has not come before.
#[derive(Clone)]
pub struct Members<'a> {
    raw: RawMembers<'a>,
    seen: Seen<'a>,
}

/// What tells a repeated name.
#[derive(Clone)]
enum Seen<'a> {
    /// Every name leaves a mark. Where there is one already, the members before are looked through.
    Few { all: RawMembers<'a>, marks: [u64; MARK_WORDS] },
    /// The names so far.
    Names(HashSet<&'a str>),
    /// No name is repeated.
    Nothing,
}

/// Words of marks: enough that the names of a small object seldom share one.
const MARK_WORDS: usize = 4;

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (name, value) = self.raw.next()?;
            let is_new = match &mut self.seen {
                Seen::Few { all, marks } => {
                    leaves_mark(marks, name) || !is_among(all.clone(), name, self.raw.left + 1)
                }
                Seen::Names(seen) => seen.insert(name),
                Seen::Nothing => true,
            };
            if is_new {
                return Some((name, value));
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (lower, upper) = self.raw.size_hint();
        (if matches!(self.seen, Seen::Nothing) { lower } else { 0 }, upper)
    }
}

/// Whether there was no mark yet where `name` leaves its own.
#[inline]
fn leaves_mark(marks: &mut [u64; MARK_WORDS], name: &str) -> bool {
    // Odd and otherwise arbitrary: it spreads the outline over the upper bits.
    let spread = outline(name).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = &mut marks[(spread >> 62) as usize % MARK_WORDS];
    let bit = 1 << (spread >> 56 & 63);
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}

/// Whether one of `all` but the last `rest` has that name.
#[cold]
fn is_among(all: RawMembers<'_>, name: &str, rest: usize) -> bool {
    let before = all.left.saturating_sub(rest);
    all.take(before).any(|(other, _)| other == name)
}
