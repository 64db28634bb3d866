//! A slow reference for matching: a template against a URI by trying every split.

use proptest::prelude::*;

use super::super::Template;

/// A template as alternating literals and variables, `true` for `{+v}`.
fn naive_matches(parts: &[Naive], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [Naive::Literal(literal), rest @ ..] => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| naive_matches(rest, text))
        }
        [Naive::Variable { reserved }, rest @ ..] => (1..=text.len()).any(|end| {
            let legal = *reserved || !text[..end].contains(['/', '?', '#']);
            legal && naive_matches(rest, &text[end..])
        }),
    }
}

#[derive(Debug, Clone)]
enum Naive {
    Literal(String),
    Variable { reserved: bool },
}

fn naive_template() -> impl Strategy<Value = Vec<Naive>> {
    let literal = "[a/-]{1,3}".prop_map(Naive::Literal);
    let pair = (literal, any::<bool>());
    (proptest::collection::vec(pair, 1..5), "[a/-]{0,2}", 0usize..6).prop_map(
        |(pairs, tail, reserved_at)| {
            let mut parts = vec![];
            for (at, (literal, _)) in pairs.into_iter().enumerate() {
                parts.push(literal);
                parts.push(Naive::Variable { reserved: at == reserved_at });
            }
            if !tail.is_empty() {
                parts.push(Naive::Literal(tail));
            }
            parts
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// [RES-10] the linear matcher finds a match exactly when trying every split does, and its values
    /// put back into the template give the URI
    #[test]
    fn match_equals_every_split(parts in naive_template(), uri in "[a/-]{0,14}") {
        let mut source = String::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                Naive::Literal(text) => source.push_str(text),
                Naive::Variable { reserved: true } => source.push_str(&format!("{{+v{at}}}")),
                Naive::Variable { reserved: false } => source.push_str(&format!("{{v{at}}}")),
            }
        }
        let template = Template::parse(&source).expect("alternating parts are unambiguous");
        let values = template.match_uri(&uri);
        prop_assert_eq!(values.is_some(), naive_matches(&parts, &uri), "{} on {}", source, uri);
        if let Some(values) = values {
            let mut values = values.into_iter();
            let rebuilt: String = parts.iter().map(|part| match part {
                Naive::Literal(text) => text.clone(),
                Naive::Variable { .. } => values.next().expect("one value each").1.into_owned(),
            }).collect();
            prop_assert_eq!(rebuilt, uri);
        }
    }
}
