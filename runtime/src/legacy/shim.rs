//! A handler of several rounds for a client that knows none (LEG-80): what it asks for is sent as requests of the
//! server, and the answers are gathered for the handler's next turn.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use codec::document::Document;
use codec::meta::{Capability, declares};
use codec::types::{InputRequest, InputRequired};
use codec::write;
use serde_json::{Map, Value, json};

use super::client::{Client, Pending};
use super::outlet::Outlet;
use crate::app::App;
use crate::engine::core::Core;
use crate::engine::deadline::Kind;

/// The pause before a handler is entered again that asked for nothing but that.
const PAUSE: Duration = Duration::from_millis(250);

/// What a round brought.
pub(super) struct Answers {
    /// An object: the answers by the handler's keys. `None` where nothing was asked.
    pub(super) responses: Option<Document>,
    /// What the handler wants to know again.
    pub(super) state: Option<Vec<u8>>,
}

/// Asks for all of one round, at once, and waits for every answer.
///
/// # Errors
/// Why there will be no answers (LEG-81), in words that the model may read.
pub(super) async fn ask(
    core: &Rc<Core<App>>,
    client: &Client,
    outlet: &dyn Outlet,
    input: &InputRequired,
) -> Result<Answers, String> {
    may_ask(client, input)?;
    let state = input.request_state.as_ref().map(|state| state.clone().into_bytes());
    let Some(requests) = input.input_requests.as_ref().filter(|requests| !requests.is_empty())
    else {
        pause(core).await;
        return Ok(Answers { responses: None, state });
    };
    let limits = &core.serve.limits;
    let mut legs: Vec<(&str, Pending<'_>)> = Vec::new();
    for (key, request) in requests.iter() {
        let leg = client.ask(limits.asked_per_session);
        let leg = leg.ok_or("too many requests wait for the client's answers")?;
        outlet.send(&message(leg.id, request, client)?);
        legs.push((key, leg));
    }
    let answers = gather(core, &legs).await?;
    let text = Value::Object(answers).to_string();
    let (mut responses, whole) = (Document::new(), 0..text.len());
    responses
        .parse(&mut core.app.parser.borrow_mut(), text.into_bytes(), whole)
        .map_err(|_| "the client's answers are nested too deeply")?;
    Ok(Answers { responses: Some(responses), state })
}

/// Nothing is asked of a client that did not declare it, or has not finished its handshake (LEG-66, LEG-67, LEG-82).
fn may_ask(client: &Client, input: &InputRequired) -> Result<(), String> {
    if !client.can_be_asked() {
        return Err(
            "this needs the client's input, which can only be asked for in a session".into()
        );
    }
    if !client.initialized.get() {
        return Err("this needs the client's input, which has not finished its handshake".into());
    }
    let lacks = |capability: &Capability<'_>| {
        !declares(client.capabilities(), capability)
            || *capability == Capability::ElicitationUrl && !client.version.has_url_elicitation()
    };
    let missing: Vec<String> = input
        .required_capabilities()
        .iter()
        .filter(|needed| lacks(needed))
        .map(ToString::to_string)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("this needs a client capability that was not declared: {}", missing.join(", ")))
}

/// One request of the server. An elicitation says its mode, and a URL carries an id, where the client's revision has
/// such (LEG-82).
fn message(id: u64, request: &InputRequest, client: &Client) -> Result<Vec<u8>, String> {
    let mut bare = serde_json::to_value(request).map_err(|error| error.to_string())?;
    let mut params = match bare["params"].take() {
        Value::Object(params) => params,
        _ => Map::new(),
    };
    if !client.version.has_url_elicitation() {
        params.shift_remove("mode");
    }
    if matches!(request, InputRequest::ElicitUrl(_)) {
        params.insert("elicitationId".to_owned(), elicitation_id()?.into());
    }
    let mut out = Vec::new();
    let message =
        json!({ "jsonrpc": "2.0", "id": id, "method": request.method(), "params": params });
    write::serialize(&mut out, &message);
    Ok(out)
}

/// 128 random bits (SEC-10).
fn elicitation_id() -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

async fn gather(
    core: &Rc<Core<App>>,
    legs: &[(&str, Pending<'_>)],
) -> Result<Map<String, Value>, String> {
    let deadline = core.deadline(None);
    let limit = core.serve.limits.leg_timeout.as_millis() as u64;
    deadline.arm(Kind::Sleep, core.clock.now_ms().saturating_add(limit));
    let mut answers = Map::new();
    for (key, leg) in legs {
        let outcome = poll_fn(|cx| match leg.poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending => deadline.poll_fired(cx).map(|_| None),
        });
        match outcome.await {
            Some(Ok(answer)) => answers.insert((*key).to_owned(), answer),
            Some(Err(why)) => return Err(format!("the client refused a request for input: {why}")),
            None => return Err("the client did not answer a request for input in time".into()),
        };
    }
    Ok(answers)
}

async fn pause(core: &Rc<Core<App>>) {
    let deadline = core.deadline(None);
    deadline.arm(Kind::Sleep, core.clock.now_ms() + PAUSE.as_millis() as u64);
    deadline.passed().await;
}
