//! What is refused at registration, what is refused at a call and in which words, and that the view of the tape says
//! what the stock validator says.

mod agreement;
mod calls;
mod plans;
mod refusals;
mod work;

use codec::{Document, Parser};

/// A document that parsed.
fn document(text: &str) -> Document {
    let mut document = Document::new();
    let bytes = text.as_bytes().to_vec();
    let body = 0..bytes.len();
    document.parse(&mut Parser::default(), bytes, body).expect("the test's own JSON");
    document
}
