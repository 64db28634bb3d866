//! Tools that need several rounds: they ask the client for input and go on when it comes back.

use ringmcp::types::{Capability, CreateMessageParams, ElicitForm, ElicitResult};
use ringmcp::{Builder, Context, Interrupt};
use serde::{Deserialize, Serialize};

use crate::handlers::NoArgs;

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .tool("test_input_required_result_elicitation", "Asks the user for a name", elicitation)
        .tool("test_input_required_result_sampling", "Asks the client's model", sampling)
        .tool("test_input_required_result_list_roots", "Asks for the client's roots", list_roots)
        .tool("test_input_required_result_request_state", "Asks, and keeps a state", with_state)
        .tool("test_input_required_result_tampered_state", "Refuses altered states", with_state)
        .tool("test_input_required_result_multiple_inputs", "Asks three things at once", three)
        .tool("test_input_required_result_multi_round", "Asks in two rounds", two_rounds)
        .tool("interview", "Asks two questions, then the client's model", interview)
        .tool(
            "test_input_required_result_capabilities",
            "Asks what the client can give",
            by_capability,
        )
}

fn name_form() -> ElicitForm {
    ElicitForm::new("What is your name?").string("name", |field| field.required())
}

/// The name of a user who gave one.
fn name_of(answer: &ElicitResult) -> &str {
    answer.text("name").unwrap_or("stranger")
}

fn question(text: &str) -> CreateMessageParams {
    CreateMessageParams::new(100).user(text)
}

async fn elicitation(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let answer = ctx.elicit("user_name", name_form())?;
    Ok(format!("Hello, {}!", name_of(&answer)))
}

async fn sampling(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let answer = ctx.sample("capital_question", question("What is the capital of France?"))?;
    Ok(format!("The model says: {}", answer.text().unwrap_or("nothing")))
}

async fn list_roots(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let roots = ctx.roots("client_roots")?;
    let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("{} roots: {}", uris.len(), uris.join(", ")))
}

async fn with_state(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, Interrupt> {
    let mut ask = ctx.ask();
    let form = ElicitForm::new("Do you confirm?").boolean("ok", |field| field.required());
    let answer = ask.elicit("confirm", form);
    ask.state(&"asked");
    // The answer counts only together with the state that the question went out with.
    let asked = ctx.state::<String>().is_some_and(|state| state == "asked");
    ask.done(answer.filter(|_| asked))?;
    Ok("Confirmed: state-ok")
}

async fn three(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let mut ask = ctx.ask();
    let name = ask.elicit("user_name", name_form());
    let greeting = ask.sample("greeting", question("Write a greeting."));
    let roots = ask.roots("client_roots");
    ask.state(&"three");
    let (name, greeting, roots) = ask.done(name.zip(greeting).zip(roots).map(flat))?;
    let greeting = greeting.text().unwrap_or("Hello");
    Ok(format!("{greeting}, {}! You have {} roots.", name_of(&name), roots.len()))
}

fn flat<A, B, C>(((a, b), c): ((A, B), C)) -> (A, B, C) {
    (a, b, c)
}

/// What is known after some rounds; clients need not send earlier answers again.
#[derive(Serialize, Deserialize, Default)]
struct Known {
    name: Option<String>,
}

async fn two_rounds(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let known: Known = ctx.state().unwrap_or_default();
    let name = match known.name {
        Some(name) => name,
        None => {
            let mut ask = ctx.ask();
            let answer = ask.elicit("step1", name_form());
            ask.state(&Known::default());
            name_of(&ask.done(answer)?).to_owned()
        }
    };
    let mut ask = ctx.ask();
    let form =
        ElicitForm::new("What is your favourite colour?").string("color", |field| field.required());
    let answer = ask.elicit("step2", form);
    ask.state(&Known { name: Some(name.clone()) });
    let answer = ask.done(answer)?;
    Ok(format!("{name} likes {}", answer.text("color").unwrap_or("no colour")))
}

/// What an interview knows so far.
#[derive(Serialize, Deserialize, Default)]
struct Interview {
    name: Option<String>,
    colour: Option<String>,
}

/// Two questions and a request for the client's model, one round each: the same text for every client there is.
async fn interview(ctx: &Context<'_>, _: NoArgs) -> Result<String, Interrupt> {
    let known: Interview = ctx.state().unwrap_or_default();
    let name = match known.name {
        Some(name) => name,
        None => {
            let mut ask = ctx.ask();
            let answer = ask.elicit("name", name_form());
            ask.state(&Interview::default());
            name_of(&ask.done(answer)?).to_owned()
        }
    };
    let colour = match known.colour {
        Some(colour) => colour,
        None => {
            let mut ask = ctx.ask();
            let form = ElicitForm::new("Which colour do you like?")
                .string("colour", |field| field.required());
            let answer = ask.elicit("colour", form);
            ask.state(&Interview { name: Some(name.clone()), colour: None });
            ask.done(answer)?.text("colour").unwrap_or("no colour").to_owned()
        }
    };
    let mut ask = ctx.ask();
    let verse = ask.sample("verse", question(&format!("A line about {colour}, please.")));
    ask.state(&Interview { name: Some(name.clone()), colour: Some(colour.clone()) });
    let verse = ask.done(verse)?;
    Ok(format!("{name} likes {colour}: {}", verse.text().unwrap_or("no verse")))
}

async fn by_capability(ctx: &Context<'_>, _: NoArgs) -> Result<&'static str, Interrupt> {
    let mut ask = ctx.ask();
    let mut asked = false;
    if ctx.client_can(&Capability::ElicitationForm) {
        ask.elicit("user_name", name_form());
        asked = true;
    }
    if ctx.client_can(&Capability::Sampling) {
        ask.sample("greeting", question("Write a greeting."));
        asked = true;
    }
    if ctx.client_can(&Capability::Roots) {
        ask.roots("client_roots");
        asked = true;
    }
    if !asked {
        ctx.require(&Capability::Sampling)?;
    }
    ask.done(Some(()))?;
    Ok("Everything was answered")
}
