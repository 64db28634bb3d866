//! What the tape is made of.

/// One value of a document, or the name of a member. A container is followed by what it holds, of an object name and
/// value in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer written with a minus sign; zero stands for `-0`.
    I64(i64),
    /// An integer written without a sign.
    U64(u64),
    /// A number with a fraction or an exponent, or an integer of more than 64 bits.
    F64(f64),
    /// A string, its escapes resolved.
    String(&'a str),
    /// An array.
    Array {
        /// Its elements.
        len: usize,
        /// The nodes of all of them, those inside them included.
        count: usize,
    },
    /// An object.
    Object {
        /// Its members.
        len: usize,
        /// The nodes of all names and values, those inside them included.
        count: usize,
    },
}
