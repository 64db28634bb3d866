//! A plan of a schema that has ordinary keywords only: the sort that types derive, and most people write. One walk of the
//! tape, a visit for each value, decides whether a document fits.
//!
//! A plan says "it fits" or "I cannot tell". It says the first only where the validator would say so too; everything else,
//! a fault above all, is the validator's to judge and to tell. What may stand in a plan is kept so small that a value is
//! never visited twice (so no fuel is needed): alternatives are followed for `null` alone.
//!
//! Members that repeat a name need no bookkeeping here: where every one of them fits, the first one does (RPC-19).

mod draw;

use codec::value::{Array, Kind, Object, Value};

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

    fn value(&self, of: Use, value: Value<'_>) -> bool {
        let shape = &self.0[of.shape];
        let kind = value.kind();
        if shape.kinds & kind_bit(kind) == 0 {
            return of.nullable && kind == Kind::Null;
        }
        match kind {
            Kind::Null | Kind::Bool => true,
            Kind::Integer | Kind::Float => shape.bounds(value),
            Kind::String => value.as_str().is_some_and(|text| shape.text(text)),
            Kind::Array => value.as_array().is_some_and(|array| self.array(shape, array)),
            Kind::Object => value.as_object().is_some_and(|object| self.object(shape, object)),
        }
    }

    fn array(&self, shape: &Shape, array: Array<'_>) -> bool {
        (shape.count.0..=shape.count.1).contains(&array.len())
            && shape.items.is_none_or(|of| array.iter().all(|item| self.value(of, item)))
    }

    fn object(&self, shape: &Shape, object: Object<'_>) -> bool {
        if shape.fields.is_empty() && matches!(shape.others, Others::Any) {
            return true;
        }
        let mut seen = 0_u64;
        // Members mostly come in the schema's order.
        let mut next = 0;
        let fit =
            object.iter().all(|(name, value)| match (shape.field(name, next), shape.others) {
                (Some(at), _) => {
                    seen |= 1 << at;
                    next = at + 1;
                    self.value(shape.fields[at].of, value)
                }
                (None, Others::Any) => true,
                (None, Others::Each(of)) => self.value(of, value),
                (None, Others::None) => false,
            });
        fit && seen & shape.required == shape.required
    }
}

impl Shape {
    fn bounds(&self, value: Value<'_>) -> bool {
        if let Some(number) = value.as_i64() {
            return self.least.is_none_or(|least| number >= least)
                && self.most.is_none_or(|most| number <= most);
        }
        // A double, or an integer beyond i64 and so beyond every bound, rounded or not.
        value.as_f64().is_some_and(|number| {
            number.is_finite()
                && self.least.is_none_or(|least| number >= least as f64)
                && self.most.is_none_or(|most| number <= most as f64)
        })
    }

    fn text(&self, text: &str) -> bool {
        let (fewest, most) = self.chars.unwrap_or((0, usize::MAX));
        let chars = if self.chars.is_some() { text.chars().count() } else { 0 };
        (fewest..=most).contains(&chars)
            && (self.choices.is_empty() || self.choices.iter().any(|choice| **choice == *text))
    }

    fn field(&self, name: &str, guess: usize) -> Option<usize> {
        match self.fields.get(guess) {
            Some(field) if *field.name == *name => Some(guess),
            _ => self.fields.iter().position(|field| *field.name == *name),
        }
    }
}
