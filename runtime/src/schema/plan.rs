//! A plan of a schema that has ordinary keywords only: the sort that types derive, and most people write. One walk of the
//! tape, a visit for each value, decides whether a document fits.
//!
//! A plan says "it fits" or "I cannot tell". It says the first only where the validator would say so too; everything else,
//! a fault above all, is the validator's to judge and to tell. What may stand in a plan is kept so small that a value is
//! never visited twice (so no fuel is needed): alternatives are followed for `null` alone.
//!
//! Members that repeat a name need no bookkeeping here: where every one of them fits, the first one does (RPC-19).

mod draw;

use codec::value::{Array, Kind, OUTLINED_BYTES_MAX, Object, Value, View, outline};

/// Members that a plan names in one object: they are ticked off in one word.
pub(super) const FIELDS_MAX: usize = 64;

/// Shapes by number; the first is the root's.
pub(super) struct Plan(Box<[Shape]>);

/// A shape in one place: some take `null` beside what the shape takes.
#[derive(Clone, Copy)]
struct Use {
    shape: usize,
    nullable: bool,
}

/// What one subschema asks of a value.
struct Shape {
    /// Of [`kind_bit`].
    kinds: u8,
    /// Bounds of numbers, exact as doubles too.
    least: Option<i64>,
    most: Option<i64>,
    /// Fewest and most characters.
    chars: Option<(usize, usize)>,
    /// The only texts taken; empty for any.
    choices: Vec<Box<str>>,
    /// Fewest and most items.
    count: (usize, usize),
    items: Option<Use>,
    fields: Vec<Field>,
    /// The fields that may not be missing, as bits.
    required: u64,
    others: Others,
}

struct Field {
    /// Of `name`.
    outline: u64,
    name: Box<str>,
    of: Use,
}

/// Members that are not among the fields.
#[derive(Clone, Copy)]
enum Others {
    Any,
    None,
    Each(Use),
}

/// The bit of a kind. A number written as a double is no integer here; whether it counts as one is left to the validator.
const fn kind_bit(kind: Kind) -> u8 {
    1 << kind as u8
}

impl Plan {
    /// Whether `args` certainly fit.
    pub(super) fn fits(&self, args: Object<'_>) -> bool {
        self.value(Use { shape: 0, nullable: false }, args.as_value())
    }

    // Into the loops below, so that only arrays and objects cost a call.
    #[inline(always)]
    fn value(&self, of: Use, value: Value<'_>) -> bool {
        let shape = &self.0[of.shape];
        match value.view() {
            View::Null => of.nullable || shape.takes(Kind::Null),
            View::Bool(_) => shape.takes(Kind::Bool),
            View::I64(number) => shape.takes(Kind::Integer) && shape.bounds(number),
            View::U64(number) => shape.takes(Kind::Integer) && shape.natural(number),
            View::F64(number) => shape.takes(Kind::Float) && shape.double(number),
            View::String(text) => shape.takes(Kind::String) && shape.text(text),
            View::Array(array) => shape.takes(Kind::Array) && self.array(shape, array),
            View::Object(object) => shape.takes(Kind::Object) && self.object(shape, object),
        }
    }

    #[inline(never)]
    fn array(&self, shape: &Shape, array: Array<'_>) -> bool {
        (shape.count.0..=shape.count.1).contains(&array.len())
            && shape.items.is_none_or(|of| array.iter().all(|item| self.value(of, item)))
    }

    #[inline(never)]
    fn object(&self, shape: &Shape, object: Object<'_>) -> bool {
        if shape.fields.is_empty() && matches!(shape.others, Others::Any) {
            return true;
        }
        let mut seen = 0_u64;
        // Members mostly come in the schema's order.
        let mut next = 0;
        for (name, value) in object.iter() {
            let of = match (shape.field(name, next), shape.others) {
                (Some((at, of)), _) => {
                    seen |= 1 << at;
                    next = at + 1;
                    of
                }
                (None, Others::Each(of)) => of,
                (None, Others::Any) => continue,
                (None, Others::None) => return false,
            };
            if !self.value(of, value) {
                return false;
            }
        }
        seen & shape.required == shape.required
    }
}

impl Field {
    fn new(name: &str, of: Use) -> Self {
        Field { outline: outline(name), name: Box::from(name), of }
    }

    #[inline]
    fn is(&self, name: &str, outline: u64) -> bool {
        self.outline == outline
            && self.name.len() == name.len()
            && (name.len() <= OUTLINED_BYTES_MAX || *self.name == *name)
    }
}

impl Shape {
    #[inline]
    fn takes(&self, kind: Kind) -> bool {
        self.kinds & kind_bit(kind) != 0
    }

    #[inline]
    fn bounds(&self, number: i64) -> bool {
        self.least.is_none_or(|least| number >= least)
            && self.most.is_none_or(|most| number <= most)
    }

    #[inline]
    fn natural(&self, number: u64) -> bool {
        match i64::try_from(number) {
            Ok(number) => self.bounds(number),
            // Beyond i64, and so beyond every bound.
            Err(_) => self.most.is_none(),
        }
    }

    fn double(&self, number: f64) -> bool {
        number.is_finite()
            && self.least.is_none_or(|least| number >= least as f64)
            && self.most.is_none_or(|most| number <= most as f64)
    }

    #[inline]
    fn text(&self, text: &str) -> bool {
        (self.chars.is_none() && self.choices.is_empty()) || self.bound_text(text)
    }

    fn bound_text(&self, text: &str) -> bool {
        let (fewest, most) = self.chars.unwrap_or((0, usize::MAX));
        let chars = if self.chars.is_some() { text.chars().count() } else { 0 };
        (fewest..=most).contains(&chars)
            && (self.choices.is_empty() || self.choices.iter().any(|choice| **choice == *text))
    }

    #[inline]
    fn field(&self, name: &str, guess: usize) -> Option<(usize, Use)> {
        let outline = outline(name);
        match self.fields.get(guess) {
            Some(field) if field.is(name, outline) => Some((guess, field.of)),
            _ => self.search(name, outline),
        }
    }

    #[inline(never)]
    fn search(&self, name: &str, outline: u64) -> Option<(usize, Use)> {
        let at = self.fields.iter().position(|field| field.is(name, outline))?;
        Some((at, self.fields[at].of))
    }
}
