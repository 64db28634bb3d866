//! What one list method shows: entries in registration order, found by key, with their JSON joined beforehand.
//!
//! A listing never changes: an edit makes a new one. So a page is a slice of text that already exists, and a cursor
//! is the sequence number of the last entry shown, which inserts and removals elsewhere do not move (PAG-04).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::error::Thing;
use crate::io::SharedText;

/// Something that is listed.
pub(crate) trait Entry: Clone {
    /// What errors call it.
    const THING: Thing;
    /// What a client names it by: a tool's or prompt's name, a resource's URI, a template's text.
    fn key(&self) -> &str;
    /// Its place in the list; unique among its kind, never used twice, kept by updates.
    fn sequence(&self) -> u64;
    /// Whether clients may see and use it (TOOL-14).
    fn is_enabled(&self) -> bool;
    /// Its definition as one JSON object.
    fn json(&self) -> &str;
    /// Gives it its place, on the way into the registry.
    fn place(&mut self, sequence: u64, enabled: bool);
}

/// The enabled entries of one kind.
pub(crate) struct Listing<E> {
    /// By ascending sequence (TOOL-03).
    entries: Vec<Arc<E>>,
    /// Hashed without a secret: the keys are the program's own, and to look a name up adds none.
    by_key: HashMap<Box<str>, usize, FixedState>,
    /// `[{...},{...}]`, of all entries.
    array: Arc<str>,
    /// Where each entry's object lies in `array`.
    spans: Vec<Range<usize>>,
}

/// A run of entries that follow each other in the list.
pub(crate) struct Page<'a, E> {
    /// The entries shown.
    pub(crate) entries: &'a [Arc<E>],
    /// Their JSON objects joined with commas, without the brackets; empty for no entries.
    pub(crate) json: &'a str,
    /// Where `json` lies in the text of the listing.
    span: Range<usize>,
    /// The last sequence number shown, if entries follow it: what the next cursor holds (PAG-02).
    pub(crate) next: Option<u64>,
}

/// As [`Page`], of only those entries that one caller may see.
pub(crate) struct FilteredPage<'a, E> {
    /// The entries shown.
    pub(crate) entries: Vec<&'a Arc<E>>,
    /// As in [`Page`].
    pub(crate) next: Option<u64>,
}

impl<E: Entry> Listing<E> {
    /// The enabled ones among `entries`, which ascend by sequence.
    pub(crate) fn new<'e>(entries: impl Iterator<Item = &'e Arc<E>>) -> Self
    where
        E: 'e,
    {
        let entries: Vec<Arc<E>> = entries.filter(|entry| entry.is_enabled()).cloned().collect();
        debug_assert!(entries.is_sorted_by_key(|entry| entry.sequence()));
        let mut array = String::from("[");
        let mut spans = Vec::with_capacity(entries.len());
        for entry in &entries {
            if !spans.is_empty() {
                array.push(',');
            }
            let start = array.len();
            array.push_str(entry.json());
            spans.push(start..array.len());
        }
        array.push(']');
        let keys = entries.iter().map(|entry| Box::from(entry.key()));
        let by_key = keys.zip(0..).collect();
        Listing { by_key, entries, array: array.into(), spans }
    }

    /// The enabled entry a client names by `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<E>> {
        self.by_key.get(key).map(|&index| &self.entries[index])
    }

    /// All entries in list order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<E>> {
        self.entries.iter()
    }

    /// The whole list as a JSON array.
    pub(crate) fn array(&self) -> &str {
        &self.array
    }

    /// The text of a page of this listing, to be written from where it lies.
    pub(crate) fn share(&self, page: &Page<'_, E>) -> Option<SharedText> {
        SharedText::new(&self.array, page.span.clone())
    }

    /// At most `size` entries after the one numbered `after`, from the start without one; all that are left without
    /// `size` (PAG-01). A `size` of 0 counts as 1: a page that shows nothing would never end.
    pub(crate) fn page(&self, after: Option<u64>, size: Option<usize>) -> Page<'_, E> {
        let start = self.position_after(after);
        let end = match size {
            Some(size) => start.saturating_add(size.max(1)).min(self.entries.len()),
            None => self.entries.len(),
        };
        let span = match (self.spans.get(start), self.spans[start..end].last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        };
        let json = &self.array[span.clone()];
        let next =
            if end < self.entries.len() { Some(self.entries[end - 1].sequence()) } else { None };
        Page { entries: &self.entries[start..end], json, span, next }
    }

    /// As [`page`](Self::page), counting and showing only entries that `may_see` accepts (TOOL-02).
    pub(crate) fn page_for(
        &self,
        after: Option<u64>,
        size: Option<usize>,
        may_see: impl Fn(&E) -> bool,
    ) -> FilteredPage<'_, E> {
        let size = size.map_or(usize::MAX, |size| size.max(1));
        let start = self.position_after(after);
        let mut entries = Vec::new();
        let mut next = None;
        for entry in self.entries[start..].iter().filter(|entry| may_see(entry)) {
            if entries.len() == size {
                next = entries.last().map(|last: &&Arc<E>| last.sequence());
                break;
            }
            entries.push(entry);
        }
        FilteredPage { entries, next }
    }

    fn position_after(&self, after: Option<u64>) -> usize {
        after.map_or(0, |after| self.entries.partition_point(|entry| entry.sequence() <= after))
    }
}
