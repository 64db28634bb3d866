//! Most of what a server can do, in one file: structured output, progress, a question to the user, a prompt with
//! completion, a resource template, news for subscribers, and a graceful end on Ctrl-C.

use std::time::Duration;

use ringmcp::types::{ElicitForm, ResourceTemplate};
use ringmcp::{Builder, Completion, Context, HandlerError, NoArgs, Server, Structured, ToolError};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    /// The numbers to sum up
    values: Vec<f64>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Summary {
    sum: f64,
    mean: Option<f64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Steps {
    /// How many steps to take
    count: u32,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Review {
    /// The language of the code
    language: String,
}

#[derive(serde::Deserialize)]
struct Note {
    id: u32,
}

fn server() -> Builder {
    Server::builder("tour", "1.0.0")
        .tool("summary", "Sum and mean", async |_: &Context, Numbers { values }: Numbers| {
            let sum = values.iter().sum::<f64>();
            let mean = (!values.is_empty()).then(|| sum / values.len() as f64);
            Ok::<_, ToolError>(Structured(Summary { sum, mean }))
        })
        .tool("walk", "Takes its time", async |ctx: &Context, Steps { count }: Steps| {
            for step in 1..=count {
                ctx.sleep(Duration::from_millis(200)).await;
                ctx.progress(step, count);
            }
            Ok::<_, ToolError>(format!("{count} steps"))
        })
        .tool("greet", "Asks for a name first", async |ctx: &Context, _: NoArgs| {
            // Without an answer the call ends here; with one the handler runs again from its start.
            let form = ElicitForm::new("Who are you?").string("name", |field| field.required());
            let answer = ctx.elicit("name", form)?;
            Ok::<_, ToolError>(format!("Hello, {}!", answer.text("name").unwrap_or("stranger")))
        })
        .prompt("review", "Review some code", async |_: &Context, Review { language }: Review| {
            Ok::<_, HandlerError>(format!("Review this {language} code like a colleague would."))
        })
        .complete_prompt("review", "language", async |_: &Context, typed: Completion| {
            let known = ["C", "Ruby", "Rust"].into_iter();
            let fitting: Vec<_> = known.filter(|name| name.starts_with(typed.value)).collect();
            Ok::<_, HandlerError>(fitting)
        })
        .resource_template(
            ResourceTemplate::new("note://{id}", "note").mime_type("text/plain"),
            async |_: &Context, Note { id }| Ok::<_, HandlerError>(format!("Note number {id}")),
        )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let handle = server().bind("127.0.0.1:8080").start()?;
    println!("{}", handle.url().unwrap_or_default());

    // Anything may tell subscribers of changes, from any thread.
    let notifier = handle.notifier();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            notifier.resource_updated("note://1");
        }
    });

    let ending = handle.clone();
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            ending.drain(Duration::from_secs(5));
        }
    });
    handle.join()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ask(method: &str, params: Value) -> Value {
        let server = server().in_process().expect("a well-described server");
        server.request(method, params, Duration::from_secs(10))["result"].take()
    }

    #[test]
    fn summaries_are_structured() {
        let params = json!({ "name": "summary", "arguments": { "values": [1, 3] } });
        let result = ask("tools/call", params);
        assert_eq!(result["structuredContent"], json!({ "sum": 4.0, "mean": 2.0 }));
    }

    #[test]
    fn greetings_ask_first() {
        let first = ask("tools/call", json!({ "name": "greet" }));
        assert_eq!(first["resultType"], "input_required");
        let answer = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
        let second = ask("tools/call", json!({ "name": "greet", "inputResponses": answer }));
        assert_eq!(second["content"][0]["text"], "Hello, Ada!");
    }

    #[test]
    fn languages_and_notes() {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "review" },
            "argument": { "name": "language", "value": "Ru" },
        });
        assert_eq!(
            ask("completion/complete", params)["completion"]["values"],
            json!(["Ruby", "Rust"])
        );
        let note = ask("resources/read", json!({ "uri": "note://7" }));
        assert_eq!(note["contents"][0]["text"], "Note number 7");
    }
}
