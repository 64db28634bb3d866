//! Templates that are refused, and why.

use super::super::{TEMPLATE_BYTES_MAX, Template, TemplateError, VARIABLES_MAX};

/// [RES-03] [RES-10] what is refused, and why
#[test]
fn template_faults() {
    use TemplateError as E;
    let long = "a".repeat(TEMPLATE_BYTES_MAX + 1);
    let many: String = (0..=VARIABLES_MAX).map(|n| format!("{{/v{n}}}")).collect();
    for (source, error) in [
        ("{", E::Brace),
        ("a}b", E::Brace),
        ("{a", E::Brace),
        ("{a{b}}", E::Brace),
        ("{{a}", E::Brace),
        ("{}", E::Name),
        ("{a,}", E::Name),
        ("{a b}", E::Name),
        ("{a..b}", E::Name),
        ("{.}", E::Name),
        ("{a%2}", E::Name),
        ("{=a}", E::Operator),
        ("{!a}", E::Operator),
        ("{@a}", E::Operator),
        ("{|a}", E::Operator),
        ("{,a}", E::Operator),
        ("{a*}", E::Modifier),
        ("{/a*}", E::Modifier),
        ("{a:3}", E::Modifier),
        ("a b", E::Literal),
        ("a%2", E::Literal),
        ("a\"{b}", E::Literal),
        ("a\\b", E::Literal),
        ("{a}/{a}", E::Duplicate),
        ("{a}{b}", E::Ambiguous),
        ("{a}{+b}", E::Ambiguous),
        ("{+a}/{+b}", E::Ambiguous),
        ("{+a,b}", E::Ambiguous),
        ("{#a,b}", E::Ambiguous),
        ("x{?a}y", E::Misplaced),
        ("x{?a}{b}", E::Misplaced),
        ("x{?a}{?b}", E::Misplaced),
        ("x?y{?a}", E::Misplaced),
        ("x{&a}", E::Misplaced),
        ("x?{&a}", E::Misplaced),
        ("x?y={a}{&b}", E::Misplaced),
        ("x?y={a}?z{&b}", E::Misplaced),
        ("x#y{?a}", E::Misplaced),
        ("x#y{#a}", E::Misplaced),
        ("{#a}{#b}", E::Misplaced),
        (&long, E::TooLong),
        (&many, E::TooManyVariables),
    ] {
        assert_eq!(Template::parse(source).err(), Some(error), "{source}");
    }
}
