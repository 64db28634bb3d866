//! URIs, templates and file paths against tables out of their RFCs and against slow references, by job.

mod expanding;
mod file;
mod grammar;
mod matching;
mod parsing;
mod splits;
mod syntax;

use proptest::prelude::*;

use super::*;

/// A template that parses.
fn parse(source: &str) -> Template {
    Template::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

proptest! {
    /// [SEC-08] nothing panics, whatever the text
    #[test]
    fn nothing_panics(source in any::<String>(), uri in any::<String>()) {
        let _ = is_valid(&uri);
        if let Ok(template) = Template::parse(&source) {
            let _ = template.match_uri(&uri);
            prop_assert_eq!(template.as_str(), source);
        }
    }
}
