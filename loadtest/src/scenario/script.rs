//! The scripted client of scenario mrtr: what it answers to each kind of question.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::fault::{Fault, Kind};

/// Answers by the server's key, and made-up ones for every other key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script(pub(crate) BTreeMap<String, Value>);

impl Script {
    /// The answer to each of the questions, by their keys [MR-03].
    ///
    /// # Errors
    /// [`Kind::Rounds`]: something that is no question this client can be asked.
    pub(crate) fn answer(
        &self,
        questions: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Fault> {
        let mut answers = Map::new();
        for (key, question) in questions {
            let answer = match self.0.get(key) {
                Some(answer) => answer.clone(),
                None => made_up(question)?,
            };
            answers.insert(key.clone(), answer);
        }
        Ok(answers)
    }
}

fn made_up(question: &Value) -> Result<Value, Fault> {
    let params = &question["params"];
    match question["method"].as_str() {
        Some("elicitation/create") if params["mode"] == "url" => Ok(json!({ "action": "accept" })),
        Some("elicitation/create") => {
            Ok(json!({ "action": "accept", "content": form(&params["requestedSchema"]) }))
        }
        Some("sampling/createMessage") if params["messages"].is_array() => Ok(json!({
            "role": "assistant",
            "content": { "type": "text", "text": "An answer of the load test." },
            "model": "ringmcp-loadtest",
            "stopReason": "endTurn",
        })),
        Some("roots/list") => {
            Ok(json!({ "roots": [{ "uri": "file:///loadtest", "name": "loadtest" }] }))
        }
        _ => {
            let why = "no question of a kind that exists";
            Err(Fault::showing(Kind::Rounds, why, question.to_string().as_bytes()))
        }
    }
}

/// A value for every field of a form.
fn form(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.map(|(name, field)| (name.clone(), value(field))).collect::<Map<_, _>>().into()
}

/// A value that a field of this schema takes [EL-01].
fn value(field: &Value) -> Value {
    if let Some(default) = field.get("default") {
        return default.clone();
    }
    let choice = |of: &Value| of["enum"].get(0).cloned().or_else(|| titled(of));
    match field["type"].as_str() {
        Some("boolean") => json!(true),
        Some("integer" | "number") => [&field["minimum"], &field["maximum"]]
            .into_iter()
            .find(|n| n.is_number())
            .cloned()
            .unwrap_or(json!(1)),
        Some("array") => {
            let items = usize::try_from(field["minItems"].as_u64().unwrap_or(1)).unwrap_or(1);
            let of = &field["items"];
            let all = [&of["enum"], &of["anyOf"]].into_iter().find_map(Value::as_array);
            let all = all.map(Vec::as_slice).unwrap_or_default().iter();
            all.map(|one| one.get("const").unwrap_or(one).clone()).take(items.max(1)).collect()
        }
        _ => choice(field).unwrap_or_else(|| text(field)),
    }
}

fn titled(of: &Value) -> Option<Value> {
    of["oneOf"].get(0)?.get("const").cloned()
}

fn text(field: &Value) -> Value {
    let plain = match field["format"].as_str() {
        Some("email") => return json!("load@example.com"),
        Some("uri") => return json!("https://example.com/"),
        Some("date") => return json!("2026-07-28"),
        Some("date-time") => return json!("2026-07-28T12:00:00Z"),
        _ => "loadtest",
    };
    let bound = |name: &str| field[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let longest = bound("maxLength").unwrap_or(usize::MAX);
    let shortest = bound("minLength").unwrap_or(0).min(64 * 1024);
    let mut text: String = plain.chars().take(longest).collect();
    while text.len() < shortest {
        text.push('x');
    }
    json!(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [EL-01] [EL-06] [EL-08] Every kind of question and of field gets an answer that it allows.
    #[test]
    fn answers_fit_their_questions() {
        let schema = json!({ "type": "object", "properties": {
            "name": { "type": "string", "minLength": 12 },
            "short": { "type": "string", "maxLength": 3 },
            "mail": { "type": "string", "format": "email" },
            "count": { "type": "integer", "minimum": 5, "maximum": 9 },
            "sure": { "type": "boolean" },
            "colour": { "type": "string", "enum": ["red", "blue"] },
            "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "A" }] },
            "many": { "type": "array", "minItems": 2, "items": { "type": "string", "enum": ["x", "y", "z"] } },
            "given": { "type": "string", "default": "d" },
        } });
        let validator = jsonschema::validator_for(&schema).expect("the schema is one");
        let form = form(&schema);
        assert!(validator.is_valid(&form), "{form}");
        assert_eq!(form.as_object().map(Map::len), Some(9));
        let script = Script([("own".to_owned(), json!({ "action": "decline" }))].into());
        let ask = |questions: Value| {
            script.answer(questions.as_object().expect("questions are an object"))
        };
        let answers = ask(json!({
            "own": { "method": "elicitation/create", "params": {} },
            "url": { "method": "elicitation/create", "params": { "mode": "url" } },
            "roots": { "method": "roots/list" },
            "model": { "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 1 } },
        }))
        .expect("all can be answered");
        assert_eq!(answers["own"]["action"], "decline");
        assert_eq!(answers["url"], json!({ "action": "accept" }));
        assert!(
            answers["roots"]["roots"][0]["uri"].as_str().is_some_and(|u| u.starts_with("file://"))
        );
        assert_eq!(answers["model"]["role"], "assistant");
        assert!(ask(json!({ "k": { "method": "tools/list" } })).is_err());
    }
}
