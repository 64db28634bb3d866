//! The machine checks of a probe, by their names in the probe file.

use serde_json::Value;

use super::exchange::{Answer, Reply};

/// What is not as expected; empty when all is.
pub(crate) fn faults(probe: &Value, reply: &Reply) -> Vec<String> {
    let last = |answer: &&Answer| answer.status >= 200;
    let finals: Vec<&Answer> = reply.answers.iter().filter(last).collect();
    let first = finals.first().copied().or(reply.answers.first());
    let status = first.map(|answer| answer.status);
    let listed = probe["expect_status"].as_array().expect("a list");
    let mut faults = Vec::new();
    if !listed.iter().any(|known| known.as_u64() == status.map(u64::from)) {
        faults.push(format!("status {status:?} is none of {listed:?}"));
    }
    let (Some(first), Some(checks)) = (first, probe["check"].as_object()) else { return faults };
    let subject = Subject { reply, finals: &finals, first, messages: messages(first) };
    for (name, wanted) in checks {
        if let Err(fault) = subject.check(name, wanted) {
            faults.push(format!("{name}: {fault}"));
        }
    }
    faults
}

struct Subject<'a> {
    reply: &'a Reply,
    finals: &'a [&'a Answer],
    first: &'a Answer,
    messages: Vec<Value>,
}

impl Subject<'_> {
    /// The response among the messages, the last one if there are several.
    fn response(&self) -> Option<&Value> {
        let answers = |message: &&Value| message.get("result").or(message.get("error")).is_some();
        self.messages.iter().rev().find(answers)
    }

    fn code(&self) -> Option<i64> {
        self.response()?["error"]["code"].as_i64()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.first.body).into_owned()
    }

    fn header(&self, name: &Value) -> bool {
        self.first.headers.iter().any(|(known, _)| Some(known.as_str()) == name.as_str())
    }

    fn check(&self, name: &str, wanted: &Value) -> Result<(), String> {
        let response = self.response();
        let id = response.and_then(|response| response.get("id"));
        let is_error = response.is_some_and(|response| response.get("error").is_some());
        let holds = match name {
            "result" => response.is_some_and(|response| response.get("result").is_some()),
            "error" => self.code() == wanted.as_i64(),
            "not_error" => self.code() != wanted.as_i64(),
            "error_or_ok" => !is_error || self.code() == wanted.as_i64() || !wanted.is_i64(),
            "any_error" => self.first.status >= 400 || is_error,
            "id" => response.is_none() || id == Some(wanted),
            "no_id" => id.is_none(),
            "no_id_if_error" => !is_error || id.is_none(),
            "id_literal_or_no_id" => {
                let literal = format!("\"id\":{}", wanted.as_str().expect("text"));
                self.text().contains(&literal) || (is_error && id.is_none())
            }
            "empty_body" => self.first.body.is_empty(),
            "closes" => self.reply.closed,
            "max_responses" => self.finals.len() as u64 <= wanted.as_u64().expect("a number"),
            "responses" => self.finals.len() as u64 == wanted.as_u64().expect("a number"),
            "order" => {
                let last_id =
                    |answer: &&Answer| messages(answer).pop().map(|message| message["id"].clone());
                let ids: Vec<Value> = self.finals.iter().filter_map(last_id).collect();
                Some(&ids) == wanted.as_array()
            }
            "interim" => {
                self.reply.answers.first().map(|answer| u64::from(answer.status)) == wanted.as_u64()
            }
            "no_interim" => self.finals.len() == self.reply.answers.len(),
            "header" => self.header(wanted),
            "no_header" => !self.header(wanted),
            "text" => self.text().contains(wanted.as_str().expect("text")),
            "no_text" => !self.text().contains(wanted.as_str().expect("text")),
            "valid_utf8" => std::str::from_utf8(&self.first.body).is_ok(),
            "sse_first" => {
                self.messages.first().is_some_and(|message| message["method"] == *wanted)
            }
            // Text of a tool that must not have run.
            "not_called" => {
                response.is_none_or(|response| response["result"].get("content").is_none())
            }
            other => return Err(format!("no such check: {other}")),
        };
        if holds { Ok(()) } else { Err(format!("wanted {wanted}, got {}", clip(&self.text()))) }
    }
}

fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The JSON-RPC messages of a body, JSON or events.
fn messages(answer: &Answer) -> Vec<Value> {
    let is_stream = answer
        .headers
        .iter()
        .any(|(name, value)| name == "content-type" && value.starts_with("text/event-stream"));
    if !is_stream {
        return serde_json::from_slice(&answer.body).into_iter().collect();
    }
    let text = String::from_utf8_lossy(&answer.body);
    let events = text.split("\n\n").filter_map(|event| {
        event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned)
    });
    events.map(|data| serde_json::from_str(&data).expect("JSON in an event")).collect()
}
