//! Object values, and the rule for repeated member names: the first counts, for lookups, iteration,
//! deserialisation and copies alike, so that a check and the code behind it never see different
//! values (ledger RPC-19).

use std::collections::HashSet;

use simd_json::Node;

use super::{Value, parse_empty_object, split_value};
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
    pub fn iter(self) -> RawMembers<'a> {
        RawMembers { left: self.len, nodes: self.value.below() }
    }

    /// Every member whose name has not come before. Allocates for objects that repeat a name or
    /// have more than [`PAIRWISE_MEMBERS_MAX`] members, and only for those.
    pub fn members(self) -> Members<'a> {
        let seen = self.has_duplicate_keys().then(HashSet::new);
        Members { raw: self.iter(), seen }
    }

    /// Whether a name is repeated. Pairwise for small objects, n log n for large ones.
    pub fn has_duplicate_keys(self) -> bool {
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
    /// The names so far; `None` where no name is repeated.
    seen: Option<HashSet<&'a str>>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(seen) = &mut self.seen else { return self.raw.next() };
        self.raw.by_ref().find(|(name, _)| seen.insert(name))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (lower, upper) = self.raw.size_hint();
        (if self.seen.is_some() { 0 } else { lower }, upper)
    }
}

/// A number that is the same for equal names and rarely for others: the length, the first bytes and the last.
fn outline(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let (start, end) = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(start), Some(end)) => (u32::from_le_bytes(*start), u32::from_le_bytes(*end)),
        _ => (bytes.iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte)), 0),
    };
    (u64::from(start) << 32 | u64::from(end)) ^ ((bytes.len() as u64) << 25)
}
