//! The validator's view of a parsed document: arguments are checked where they lie on the tape, without a copy.
//!
//! [`Tape`] is the representation, [`Place`] one value of it. Of a repeated member name the first counts, as everywhere
//! (RPC-19). A valid document costs no allocation with ordinary keywords; what does allocate is `uniqueItems` beyond
//! [`PAIRWISE_ITEMS_MAX`] items, a recursive `$ref` (the validator's own memory of what it has seen), and a document that
//! repeats member names or has very large objects.

use std::borrow::Cow;
use std::cell::OnceCell;

use codec::value::{Array, Elements, Kind, Members, Object, RawMembers, Value};
use jsonschema::JsonType;
use jsonschema::json::{self, Json, Node, NodeIdentity};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::{Map, Number, Value as Owned};

use super::fuel::Fuel;
use super::same;

/// Characters of a document's text that a fault keeps.
const FAULT_VALUE_CHARS_MAX: usize = 64;

/// Arrays up to this many items are compared pairwise for `uniqueItems`, larger ones by digest.
pub(super) const PAIRWISE_ITEMS_MAX: usize = 16;

/// One check of one document: its fuel, and what was found out about it on the way.
pub(super) struct Visit<'a> {
    pub(super) fuel: Fuel,
    root: Root<'a>,
    repeats_names: OnceCell<bool>,
}

#[derive(Clone, Copy)]
enum Root<'a> {
    Value(Value<'a>),
    Members(Object<'a>),
}

/// A value of the document, or a member's name standing as one.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    at: At<'a>,
    /// `None` for names: the validator makes them out of nothing but the text.
    visit: Option<&'a Visit<'a>>,
}

#[derive(Clone, Copy)]
enum At<'a> {
    Value(Value<'a>),
    /// The root of arguments, whose head the tape does not lend.
    Members(Object<'a>),
    Name(&'a str),
}

/// The representation, for the validator's type parameter.
pub(super) struct Tape;

impl<'a> Visit<'a> {
    pub(super) fn of_value(value: Value<'a>, fuel: Fuel) -> Self {
        Visit { fuel, root: Root::Value(value), repeats_names: OnceCell::new() }
    }

    pub(super) fn of_members(members: Object<'a>, fuel: Fuel) -> Self {
        Visit { fuel, root: Root::Members(members), repeats_names: OnceCell::new() }
    }

    pub(super) fn root(&'a self) -> Place<'a> {
        let at = match self.root {
            Root::Value(value) => At::Value(value),
            Root::Members(members) => At::Members(members),
        };
        Place { at, visit: Some(self) }
    }

    /// The value at `location`, if there still is fuel to walk there.
    pub(super) fn find(&'a self, location: &Location) -> Option<Place<'a>> {
        location.segments().try_fold(self.root(), |place, segment| match segment {
            LocationSegment::Property(name) => json::Object::get(&place.as_object()?, &name.into()),
            // A member's name may look like an index.
            LocationSegment::Index(index) => match place.as_array() {
                Some(items) => json::Array::elements(&items).nth(index),
                None => json::Object::get(&place.as_object()?, &index.to_string().into()),
            },
        })
    }

    /// Whether any object of the document repeats a name: only then do members have to be told apart again and again.
    fn repeats_names(&self) -> bool {
        *self.repeats_names.get_or_init(|| match self.root {
            Root::Value(value) => value_repeats(value),
            Root::Members(members) => members_repeat(members),
        })
    }
}

fn value_repeats(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Object => value.as_object().is_some_and(members_repeat),
        Kind::Array => value.as_array().is_some_and(|array| array.iter().any(value_repeats)),
        _ => false,
    }
}

fn members_repeat(members: Object<'_>) -> bool {
    members.has_duplicate_keys() || members.iter().any(|(_, value)| value_repeats(value))
}

impl<'a> Place<'a> {
    /// Burns one step; false when the document is to look empty.
    fn look(&self) -> bool {
        self.visit.is_none_or(|visit| visit.fuel.burn(1))
    }

    fn look_at_text(&self, text: &str) -> bool {
        self.visit.is_none_or(|visit| visit.fuel.burn_text(text.len()))
    }

    fn with(&self, value: Value<'a>) -> Self {
        Place { at: At::Value(value), visit: self.visit }
    }

    fn kind(&self) -> Kind {
        match self.at {
            // A number that no JSON number type holds is `null`, here as in every other form of it.
            At::Value(value) if value.kind() == Kind::Float && value.as_number().is_none() => {
                Kind::Null
            }
            At::Value(value) => value.kind(),
            At::Members(_) => Kind::Object,
            At::Name(_) => Kind::String,
        }
    }
}

impl Json for Tape {
    type Node<'a> = Place<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = ();

    /// A lookup on the tape walks the members, so one walk for several names is the cheaper way unless the object is much
    /// longer than the list of names.
    const KEYS_PER_LOOKUP: usize = 8;
    /// The tape is a tree.
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Place<'_>) -> T) -> T {
        f(Place { at: At::Name(string), visit: None })
    }
}

impl<'a> Node<'a, Tape> for Place<'a> {
    type Object = Fields<'a>;
    type Array = Items<'a>;
    type Number = Number;

    fn as_object(&self) -> Option<Fields<'a>> {
        let members = match self.at {
            At::Value(value) => value.as_object()?,
            At::Members(members) => members,
            At::Name(_) => return None,
        };
        self.look().then_some(Fields { members, place: *self })
    }

    fn as_array(&self) -> Option<Items<'a>> {
        let At::Value(value) = self.at else {
            return None;
        };
        let items = value.as_array()?;
        self.look().then_some(Items { items, place: *self })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = match self.at {
            At::Value(value) => value.as_str()?,
            At::Members(_) => return None,
            At::Name(name) => name,
        };
        self.look_at_text(text).then_some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<Number> {
        let At::Value(value) = self.at else {
            return None;
        };
        let number = value.as_number()?;
        self.look().then_some(number)
    }

    fn as_boolean(&self) -> Option<bool> {
        let At::Value(value) = self.at else {
            return None;
        };
        let flag = value.as_bool()?;
        self.look().then_some(flag)
    }

    fn is_null(&self) -> bool {
        !self.look() || self.kind() == Kind::Null
    }

    fn json_type(&self) -> JsonType {
        if !self.look() {
            return JsonType::Null;
        }
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Bool => JsonType::Boolean,
            Kind::Integer | Kind::Float => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Owned) -> bool {
        same::as_owned(*self, expected)
    }

    /// For the text of a fault only: scalars, clipped, and containers without what they contain. Copying the whole value
    /// would let one document make as many copies of itself as it has faults.
    fn to_value(&self) -> Cow<'a, Owned> {
        if let Some(visit) = self.visit {
            visit.fuel.count_fault();
            if visit.fuel.is_spent() {
                return Cow::Owned(unbelievable());
            }
        }
        Cow::Owned(match self.kind() {
            Kind::Null => Owned::Null,
            Kind::Bool => Owned::Bool(self.as_boolean().unwrap_or_default()),
            Kind::Integer | Kind::Float => self.as_number().map_or(Owned::Null, Owned::Number),
            Kind::String => {
                self.as_string().map_or(Owned::Null, |text| Owned::String(clipped(&text)))
            }
            Kind::Array => Owned::Array(Vec::new()),
            Kind::Object => Owned::Object(Map::new()),
        })
    }

    /// The address of the head on the tape. The tape does not move or change while a check borrows it, and the validator
    /// forgets what it knows of addresses when the call ends (its context lives on the stack of that call). Names are made
    /// for a moment each, so an address could come again: they have none.
    fn identity(&self) -> Option<NodeIdentity> {
        match self.at {
            At::Value(value) => Some(NodeIdentity::new(value.address())),
            // The head of the arguments lies before their first member, so no value below has this number.
            At::Members(_) => Some(NodeIdentity::tagged(0, 1)),
            At::Name(_) => None,
        }
    }

    /// Scalars are remembered too: their address is as lasting as that of containers.
    fn container_identity(&self) -> Option<NodeIdentity> {
        self.identity()
    }
}

/// What stands for a value when the fuel was spent before it was looked at. No container is ever shown with contents.
fn unbelievable() -> Owned {
    Owned::Array(vec![Owned::Null])
}

/// Whether a fault about `shown` was found after the fuel was spent.
pub(super) fn is_unbelievable(shown: &Owned) -> bool {
    shown.as_array().is_some_and(|items| !items.is_empty())
}

fn clipped(text: &str) -> String {
    let mut chars = text.chars();
    let mut kept: String = chars.by_ref().take(FAULT_VALUE_CHARS_MAX).collect();
    if chars.next().is_some() {
        kept.push('…');
    }
    kept
}

/// An object as the validator sees it.
pub(super) struct Fields<'a> {
    members: Object<'a>,
    place: Place<'a>,
}

/// Members the lookup of one name walks per step of fuel.
const MEMBERS_PER_STEP: u64 = 4;

impl Fields<'_> {
    fn repeats_names(&self) -> bool {
        self.place.visit.is_some_and(Visit::repeats_names)
    }
}

impl<'a> json::Object<'a, Tape> for Fields<'a> {
    type Node = Place<'a>;
    type MemberName = &'a str;
    type MembersIter = FieldsIter<'a>;

    fn len(&self) -> usize {
        if self.repeats_names() { self.members.members().count() } else { self.members.len() }
    }

    fn get(&self, key: &Box<str>) -> Option<Place<'a>> {
        let steps = 1 + self.members.len() as u64 / MEMBERS_PER_STEP;
        if !self.place.visit.is_none_or(|visit| visit.fuel.burn(steps)) {
            return None;
        }
        self.members.get(key).map(|value| self.place.with(value))
    }

    fn members(&self) -> FieldsIter<'a> {
        let members = if self.repeats_names() {
            AnyMembers::Distinct(self.members.members())
        } else {
            AnyMembers::Raw(self.members.iter())
        };
        FieldsIter { members, place: self.place }
    }
}

pub(super) struct FieldsIter<'a> {
    members: AnyMembers<'a>,
    place: Place<'a>,
}

enum AnyMembers<'a> {
    /// Of a document that repeats no name.
    Raw(RawMembers<'a>),
    Distinct(Members<'a>),
}

impl<'a> Iterator for FieldsIter<'a> {
    type Item = (&'a str, Place<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = match &mut self.members {
            AnyMembers::Raw(members) => members.next()?,
            AnyMembers::Distinct(members) => members.next()?,
        };
        self.place.look_at_text(name).then(|| (name, self.place.with(value)))
    }
}

/// An array as the validator sees it.
pub(super) struct Items<'a> {
    items: Array<'a>,
    place: Place<'a>,
}

impl<'a> json::Array<'a, Tape> for Items<'a> {
    type Node = Place<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter { items: self.items.iter(), place: self.place }
    }

    fn is_unique(&self) -> bool {
        same::all_distinct(self.items.len(), || self.elements())
    }
}

#[derive(Clone)]
pub(super) struct ItemsIter<'a> {
    items: Elements<'a>,
    place: Place<'a>,
}

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        let value = self.items.next()?;
        self.place.look().then(|| self.place.with(value))
    }
}
