//! Array values.

use super::{Value, split_value};
use crate::document::Node;

/// The elements of an array.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    len: usize,
    /// The whole array. Invariant: its head is an array's.
    value: Value<'a>,
}

impl<'a> Array<'a> {
    #[inline]
    pub(super) fn over(len: usize, value: Value<'a>) -> Array<'a> {
        Array { len, value }
    }

    /// The array as a value again.
    pub fn as_value(self) -> Value<'a> {
        self.value
    }

    /// Number of elements.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The elements in order.
    #[inline]
    pub fn iter(self) -> Elements<'a> {
        Elements { left: self.len, nodes: self.value.below() }
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Value<'a>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        self.iter()
    }
}

/// Iterator over an array's elements.
#[derive(Clone)]
pub struct Elements<'a> {
    left: usize,
    nodes: &'a [Node<'a>],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        let (value, rest) = split_value(self.nodes)?;
        self.nodes = rest;
        self.left = self.left.saturating_sub(1);
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}
