//! Equality as JSON Schema has it (2020-12 core, 4.2.2), on the tape: numbers by their value, so 1 is 1.0; objects without
//! regard to order. For `const`, `enum` and `uniqueItems`.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use jsonschema::json::{Array, Node, Object};
use serde_json::{Map, Number, Value as Owned};

use super::tape::{Fields, ItemsIter, PAIRWISE_ITEMS_MAX, Place};

/// Whether `place` holds the same value as `expected`, which a schema names.
pub(super) fn as_owned(place: Place<'_>, expected: &Owned) -> bool {
    match expected {
        Owned::Null => place.is_null(),
        Owned::Bool(flag) => place.as_boolean() == Some(*flag),
        Owned::Number(number) => place.as_number().is_some_and(|own| numbers(&own, number)),
        Owned::String(text) => place.as_string().is_some_and(|own| *own == **text),
        Owned::Array(items) => place.as_array().is_some_and(|own| {
            own.len() == items.len()
                && own.elements().zip(items).all(|(own, item)| as_owned(own, item))
        }),
        Owned::Object(members) => {
            place.as_object().is_some_and(|own| members_as_owned(&own, members))
        }
    }
}

fn members_as_owned(own: &Fields<'_>, expected: &Map<String, Owned>) -> bool {
    own.len() == expected.len()
        && own.members().all(|(name, value)| {
            expected.get(name).is_some_and(|expected| as_owned(value, expected))
        })
}

/// Whether no two of `len` elements are the same (`uniqueItems`).
pub(super) fn all_distinct<'a>(len: usize, elements: impl Fn() -> ItemsIter<'a>) -> bool {
    if len > PAIRWISE_ITEMS_MAX {
        return all_distinct_by_digest(elements());
    }
    let mut rest = elements();
    while let Some(first) = rest.next() {
        if rest.clone().any(|other| same(first, other)) {
            return false;
        }
    }
    true
}

/// The digests are keyed anew each time, so a document cannot be made whose items collide.
fn all_distinct_by_digest(elements: ItemsIter<'_>) -> bool {
    let keys = RandomState::new();
    let mut digests: Vec<(u64, Place<'_>)> =
        elements.map(|place| (digest(place, &keys), place)).collect();
    digests.sort_unstable_by_key(|(digest, _)| *digest);
    digests.chunk_by(|(left, _), (right, _)| left == right).all(|run| {
        run.iter()
            .enumerate()
            .all(|(at, (_, one))| run[at + 1..].iter().all(|(_, other)| !same(*one, *other)))
    })
}

fn same(left: Place<'_>, right: Place<'_>) -> bool {
    if left.json_type() != right.json_type() {
        return false;
    }
    if let Some(text) = left.as_string() {
        return right.as_string().is_some_and(|other| text == other);
    }
    if let Some(number) = left.as_number() {
        return right.as_number().is_some_and(|other| numbers(&number, &other));
    }
    if let Some(items) = left.as_array() {
        return right.as_array().is_some_and(|others| {
            items.len() == others.len()
                && items.elements().zip(others.elements()).all(|(one, other)| same(one, other))
        });
    }
    if let Some(members) = left.as_object() {
        return right.as_object().is_some_and(|others| same_members(&members, &others));
    }
    // Two booleans, or two nulls.
    left.as_boolean() == right.as_boolean()
}

fn same_members(left: &Fields<'_>, right: &Fields<'_>) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut others = right.members();
    left.members().all(|(name, value)| {
        // Mostly the order is the same; a lookup walks all members.
        match others.next() {
            Some((other_name, other)) if other_name == name => same(value, other),
            _ => right.get(&name.into()).is_some_and(|other| same(value, other)),
        }
    })
}

fn digest(place: Place<'_>, keys: &RandomState) -> u64 {
    if let Some(text) = place.as_string() {
        return keys.hash_one((1, &*text));
    }
    if let Some(number) = place.as_number() {
        return keys.hash_one((2, canonical(&number)));
    }
    if let Some(items) = place.as_array() {
        let start = keys.hash_one(3);
        return items.elements().fold(start, |sum, item| keys.hash_one((sum, digest(item, keys))));
    }
    if let Some(members) = place.as_object() {
        // A sum does not depend on the order.
        let parts =
            members.members().map(|(name, value)| keys.hash_one((name, digest(value, keys))));
        return keys.hash_one((4, parts.fold(0u64, u64::wrapping_add)));
    }
    keys.hash_one((5, place.as_boolean()))
}

/// A number by its value: an integer, or the bits of a double that is none.
#[derive(Hash, PartialEq)]
enum Canonical {
    Integer(i128),
    Double(u64),
}

fn canonical(number: &Number) -> Canonical {
    if let Some(integer) = number.as_i128() {
        return Canonical::Integer(integer);
    }
    let double = number.as_f64().unwrap_or_default();
    let bound = 2f64.powi(126);
    if double.fract() == 0.0
        && double.partial_cmp(&bound) == Some(Ordering::Less)
        && double > -bound
    {
        // Exact: a whole double below 2^126 is an i128. Minus zero becomes zero.
        return Canonical::Integer(double as i128);
    }
    Canonical::Double(double.to_bits())
}

fn numbers(left: &Number, right: &Number) -> bool {
    canonical(left) == canonical(right)
}
