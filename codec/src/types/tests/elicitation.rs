//! Forms and URLs: what may be asked, and whether an answer fits.

use serde_json::{Value, json};

use crate::types::schema::ChoiceItems;
use crate::types::*;

fn all_kinds() -> ElicitForm {
    ElicitForm::new("All of it")
        .string("name", |s| s.required().min_length(2).max_length(4))
        .string("mail", |s| s.format(StringFormat::Email))
        .string("site", |s| s.format(StringFormat::Uri))
        .string("day", |s| s.format(StringFormat::Date))
        .string("at", |s| s.format(StringFormat::DateTime))
        .integer("age", |n| n.minimum(0).maximum(150))
        .number("score", |n| n.default(1.5))
        .boolean("verified", |b| b.default(true))
        .choice("colour", ["red", "green"], |c| c.default("red"))
        .titled_choice("size", [("s", "Small"), ("l", "Large")], |c| c.title("Size"))
        .multi_choice("tags", ChoiceItems::plain(["a", "b", "c"]), |m| m.min_items(1).max_items(2))
        .multi_choice("langs", ChoiceItems::titled([("de", "German")]), |m| m.default(["de"]))
}

/// [EL-01] a form is written as an object of flat primitives with the required names beside it.
#[test]
fn form_on_the_wire() {
    let form = ElicitForm::new("Who?")
        .string("name", |s| s.required().title("Name").description("Yours").max_length(10))
        .integer("age", |n| n.minimum(18));
    assert_eq!(form.validate(), Ok(()));
    assert_eq!(
        serde_json::to_value(form).expect("serializes"),
        json!({"mode": "form", "message": "Who?", "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "description": "Yours", "maxLength": 10},
                "age": {"type": "integer", "minimum": 18},
            },
            "required": ["name"],
        }})
    );
    assert_eq!(all_kinds().validate(), Ok(()));
    let again = all_kinds().string("name", |s| s);
    assert_eq!(again.requested_schema.required, None);
}

/// [EL-01] nesting and foreign keywords are refused, whatever they hide in.
#[test]
fn nested_forms_are_refused() {
    let of = |field: Value| {
        let schema = json!({"type": "object", "properties": {"f": field}});
        ElicitForm::from_schema("m", schema).is_ok()
    };
    for good in [
        json!({"type": "string", "maxLength": 3}),
        json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
    ] {
        assert!(of(good.clone()), "{good}");
    }
    for bad in [
        json!({"type": "object", "properties": {}}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "array", "items": {"type": "number", "enum": [1]}}),
        json!({"type": ["string", "null"]}),
        json!({"type": "null"}),
        json!({"type": "string", "pattern": "a"}),
        json!({"type": "string", "format": "password"}),
        json!({"type": "string", "enum": ["a"], "oneOf": [{"const": "a", "title": "A"}]}),
        json!({"type": "string", "enum": ["a"], "enumNames": []}),
        json!({"type": "string", "enum": []}),
        json!({"$ref": "#/$defs/x"}),
        json!(true),
    ] {
        assert!(!of(bad.clone()), "{bad}");
    }
    for root in [
        json!({"type": "array", "properties": {}}),
        json!({"type": "object", "properties": {}, "allOf": []}),
        json!({"type": "object", "properties": {}, "required": ["x"]}),
        json!([]),
    ] {
        assert!(ElicitForm::from_schema("m", root.clone()).is_err(), "{root}");
    }
}

/// [EL-01] bounds in the wrong order and defaults that do not fit are the server's own mistakes.
#[test]
fn contradictory_fields_are_refused() {
    let forms = [
        ElicitForm::new("m").string("f", |s| s.min_length(2).max_length(1)),
        ElicitForm::new("m").string("f", |s| s.max_length(1).default("ab")),
        ElicitForm::new("m").integer("f", |n| n.default(1.5)),
        ElicitForm::new("m").number("f", |n| n.minimum(2).maximum(1)),
        ElicitForm::new("m").choice("f", ["a"], |c| c.default("b")),
        ElicitForm::new("m").choice::<&str>("f", [], |c| c),
        ElicitForm::new("m").multi_choice("f", ChoiceItems::plain(["a"]), |m| m.default(["b"])),
    ];
    for form in forms {
        let error = form.validate().expect_err("contradiction");
        assert!(error.to_string().contains("form field `f`"), "{error}");
    }
}

/// [EL-03] names and titles that ask for secrets are refused; innocent neighbours pass.
#[test]
fn forms_do_not_ask_for_secrets() {
    for bad in [
        "password",
        "userPassword",
        "user_password",
        "PASSWORD",
        "api_key",
        "apiKey",
        "APIKey",
        "apikey",
        "API key",
        "accessToken",
        "token",
        "client-secret",
        "creditCardNumber",
        "cvv",
        "pin",
        "privateKey",
    ] {
        let named = ElicitForm::new("m").string(bad, |s| s).validate();
        assert_eq!(named, Err(FormError::Secret { field: bad.to_owned() }), "{bad:?}");
        let titled = ElicitForm::new("m").string("f", |s| s.title(bad)).validate();
        assert_eq!(titled, Err(FormError::Secret { field: "f".to_owned() }), "{bad:?}");
    }
    for good in [
        "name",
        "keyboard",
        "pinned",
        "tokenizer",
        "max_tokens",
        "sort_key",
        "secretary",
        "card",
        "",
    ] {
        assert!(ElicitForm::new("m").string(good, |s| s).validate().is_ok(), "{good:?}");
    }
}

/// [EL-02] URL mode: https (http to localhost), no credentials, no secrets; no `elicitationId` written.
#[test]
fn urls_are_checked() {
    let rows = [
        ("https://a.example/x?state=1", Ok(())),
        ("HTTPS://a.example", Ok(())),
        ("http://localhost:8080/x", Ok(())),
        ("http://127.0.0.1/x", Ok(())),
        ("http://[::1]:1/x", Ok(())),
        ("http://a.example/x", Err(UrlError::Scheme)),
        ("http://localhost.a.example/", Err(UrlError::Scheme)),
        ("ftp://a.example/x", Err(UrlError::Scheme)),
        ("https://user:pw@a.example/", Err(UrlError::Credentials)),
        ("https://user@a.example/", Err(UrlError::Credentials)),
        ("https://a.example/?x=1&access_token=abc", Err(UrlError::Secret)),
        ("https://a.example/?password=1#frag", Err(UrlError::Secret)),
        ("https://", Err(UrlError::Syntax)),
        ("https:///path", Err(UrlError::Syntax)),
        ("javascript:alert(1)", Err(UrlError::Syntax)),
        ("not a url", Err(UrlError::Syntax)),
        ("", Err(UrlError::Syntax)),
    ];
    for (url, expected) in rows {
        assert_eq!(ElicitUrl::new("m", url).map(|_| ()), expected, "{url:?}");
    }
    let wire = serde_json::to_value(ElicitUrl::new("m", "https://a.example/").expect("good"));
    assert_eq!(
        wire.expect("serializes"),
        json!({"mode": "url", "message": "m", "url": "https://a.example/"})
    );
}

/// [MR-25] filled-in content is checked against the form; the error names the field, not the value.
#[test]
fn content_is_checked_again() {
    let form = all_kinds();
    let rows = [
        (json!({"name": "Ada"}), None),
        (json!({"name": "Ädäé", "age": 30.0, "score": 1, "extra": {}}), None),
        (
            json!({"name": "Ada", "tags": ["a", "c"], "langs": [], "colour": "green", "size": "l"}),
            None,
        ),
        (json!({"name": "Ada", "mail": "a@b.example", "site": "urn:x", "day": "2024-02-29"}), None),
        (json!({"name": "Ada", "at": "2026-07-28T00:00:00Z", "verified": false}), None),
        (json!({}), Some("name")),
        (json!({"name": null}), Some("name")),
        (json!({"name": "A"}), Some("name")),
        (json!({"name": "Adele"}), Some("name")),
        (json!({"name": {"nested": 1}}), Some("name")),
        (json!({"name": "Ada", "age": 1.5}), Some("age")),
        (json!({"name": "Ada", "age": -1}), Some("age")),
        (json!({"name": "Ada", "age": 151}), Some("age")),
        (json!({"name": "Ada", "age": "30"}), Some("age")),
        (json!({"name": "Ada", "verified": "yes"}), Some("verified")),
        (json!({"name": "Ada", "colour": "blue"}), Some("colour")),
        (json!({"name": "Ada", "size": "Small"}), Some("size")),
        (json!({"name": "Ada", "tags": []}), Some("tags")),
        (json!({"name": "Ada", "tags": ["a", "b", "c"]}), Some("tags")),
        (json!({"name": "Ada", "tags": ["z"]}), Some("tags")),
        (json!({"name": "Ada", "tags": [1]}), Some("tags")),
        (json!({"name": "Ada", "tags": "a"}), Some("tags")),
        (json!({"name": "Ada", "mail": "nobody"}), Some("mail")),
        (json!({"name": "Ada", "mail": "a b@c"}), Some("mail")),
        (json!({"name": "Ada", "site": "no uri"}), Some("site")),
        (json!({"name": "Ada", "day": "2023-02-29"}), Some("day")),
        (json!({"name": "Ada", "at": "2026-07-28"}), Some("at")),
    ];
    for (content, fault) in rows {
        let checked = form.check(content.as_object().expect("an object"));
        match fault {
            None => assert_eq!(checked, Ok(()), "{content}"),
            Some(field) => {
                let text = checked.expect_err("fault");
                assert!(text.starts_with(&format!("`{field}`: ")), "{content}: {text}");
            }
        }
    }
}

/// [MR-24] the three actions, and typed access to what was filled in.
#[test]
fn answers_are_read_by_field() {
    let content = json!({"name": "Ada", "age": 36, "ok": true, "tags": ["a"], "score": 1.5});
    let result = ElicitResult::accept(content.as_object().expect("an object").clone());
    assert!(result.is_accepted());
    assert_eq!(result.text("name"), Some("Ada"));
    assert_eq!((result.integer("age"), result.number("score")), (Some(36), Some(1.5)));
    assert_eq!((result.boolean("ok"), result.texts("tags")), (Some(true), Some(vec!["a"])));
    assert_eq!((result.text("age"), result.integer("missing")), (None, None));
    #[derive(serde::Deserialize)]
    struct Person {
        name: String,
        age: u8,
    }
    let person: Person = result.content_as().expect("fits");
    assert_eq!((person.name.as_str(), person.age), ("Ada", 36));
    assert!(!ElicitResult::decline().is_accepted() && !ElicitResult::cancel().is_accepted());
    assert!(ElicitResult::decline().content_as::<Person>().is_err());
}
