//! A small slab whose keys carry a generation, so that a key outlives its entry harmlessly.

/// Names one entry for as long as it lives, and nothing afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    index: u32,
    generation: u32,
}

/// Entries in a vector, free places reused.
pub(crate) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    /// Of places that are made from now on: none that was given back had a later one.
    generation: u32,
}

struct Place<T> {
    /// Counts the entries this place has had; wraps after 2^32 of them.
    generation: u32,
    entry: Option<T>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), generation: 0 }
    }

    pub(crate) fn insert(&mut self, entry: T) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.places.len())
                .expect("a core holds fewer than 2^32 entries: descriptors are fewer");
            self.places.push(Place { generation: self.generation, entry: None });
            index
        });
        let place = &mut self.places[index as usize];
        place.entry = Some(entry);
        Key { index, generation: place.generation }
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation != key.generation {
            return None;
        }
        let entry = place.entry.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(key.index);
        Some(entry)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key.index as usize)?;
        if place.generation == key.generation { place.entry.as_ref() } else { None }
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation == key.generation { place.entry.as_mut() } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.entry.as_ref())
    }

    /// Gives back the room behind the last entry, and fills the places before it from the front from now on, so that more
    /// can be given back the next time.
    pub(crate) fn shrink(&mut self) {
        let used =
            self.places.iter().rposition(|place| place.entry.is_some()).map_or(0, |at| at + 1);
        let last = self.places[used..].iter().map(|place| place.generation).max();
        self.generation = self.generation.max(last.unwrap_or(0));
        self.places.truncate(used);
        self.places.shrink_to_fit();
        self.free.retain(|index| (*index as usize) < used);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        self.free.shrink_to_fit();
    }

    /// Removes everything; the keys given out so far name nothing any more.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let mut out = Vec::with_capacity(self.len());
        for (index, place) in self.places.iter_mut().enumerate() {
            if let Some(entry) = place.entry.take() {
                place.generation = place.generation.wrapping_add(1);
                self.free.push(index as u32);
                out.push(entry);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of a removed entry finds nothing, even when its place is in use again.
    #[test]
    fn stale_keys_name_nothing() {
        let mut slab = Slab::new();
        let a = slab.insert("a");
        assert_eq!(slab.remove(a), Some("a"));
        let b = slab.insert("b");
        assert_eq!((slab.remove(a), slab.get(a), slab.get(b)), (None, None, Some(&"b")));
        assert_eq!(slab.drain(), vec!["b"]);
        assert!(slab.is_empty() && slab.get(b).is_none());
    }

    /// What a peak took is given back up to the last entry; keys of places that are gone name nothing, also when they are
    /// made again.
    #[test]
    fn room_is_given_back() {
        let mut slab = Slab::new();
        let keys: Vec<Key> = (0..1000).map(|at| slab.insert(at)).collect();
        let (kept, gone) = (keys[3], keys[900]);
        keys.iter()
            .filter(|key| **key != kept)
            .for_each(|key| assert!(slab.remove(*key).is_some()));
        slab.shrink();
        assert_eq!((slab.len(), slab.get(kept), slab.places.capacity()), (1, Some(&3), 4));
        assert!(slab.free.capacity() < 8);
        assert_eq!(slab.insert(7).index, 0, "from the front");
        let again: Vec<Key> = (0..1000).map(|at| slab.insert(at)).collect();
        assert!(again.iter().any(|key| key.index == gone.index));
        assert!(slab.get(gone).is_none() && slab.remove(gone).is_none());
        assert_eq!(slab.get(kept), Some(&3));
    }
}
