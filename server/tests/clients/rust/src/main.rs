//! The official Rust SDK's client against the server: `rust-client MODE URL` or `rust-client MODE COMMAND ARGS`.
//!
//! MODE is modern, legacy or auto. Prints one line per check that passed; the first that fails ends it.
#![allow(deprecated, reason = "sampling is deprecated in the newest revision and still served")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The whole run ends within this time, whatever happens.
const LIMIT: Duration = Duration::from_secs(60);

/// The user and the model behind the client, and whether it has heard of changed tools.
#[derive(Clone, Default)]
struct Person {
    changed: Arc<Notify>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities =
            serde_json::from_value(json!({"elicitation": {"form": {}}, "sampling": {}}))
                .expect("the capabilities are well formed");
        ClientConfig::new(capabilities, Implementation::new("rust-client", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(&request).expect("it came as JSON");
        let asked = &request["requestedSchema"]["properties"];
        let content = if asked.get("name").is_some() {
            json!({"name": "Ada"})
        } else {
            json!({"colour": "green"})
        };
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let message = SamplingMessage::assistant_text("green are the hills");
        Ok(CreateMessageResult::new(message, "none".to_owned()))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

fn passed(name: &str) {
    println!("passed {name}");
}

fn equal(seen: &Value, wanted: &Value) -> Result<()> {
    ensure!(seen == wanted, "saw {seen}, wanted {wanted}");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    tokio::time::timeout(LIMIT, run()).await.context("nothing more happened")?
}

async fn run() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let mode = args.next().context("a mode is wanted")?;
    let target = args.next().context("a URL or a command is wanted")?;
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode.as_str() {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    let person = Person::default();
    let changed = Arc::clone(&person.changed);
    let client = if target.starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(target);
        person.serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let mut command = tokio::process::Command::new(target);
        command.args(args);
        person.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
    };
    passed("connect");
    walk(&client, mode != "legacy", &changed).await?;
    client.cancel().await?;
    passed("close");
    Ok(())
}

async fn walk(
    client: &RunningService<RoleClient, Person>,
    modern: bool,
    changed: &Notify,
) -> Result<()> {
    let tools = client.list_all_tools().await?;
    ensure!(tools.iter().any(|tool| tool.name == "echo"), "echo is not listed");
    passed("tools/list");

    equal(&call(client, "echo", json!({"text": "grüße 🙂"})).await?, &json!("grüße 🙂"))?;
    passed("tools/call");

    let read = client.read_resource(ReadResourceRequestParams::new("test://static-text")).await?;
    equal(&serde_json::to_value(&read)?["contents"][0]["uri"], &json!("test://static-text"))?;
    passed("resources/read");

    let prompt = client.get_prompt(GetPromptRequestParams::new("test_simple_prompt")).await?;
    equal(&serde_json::to_value(&prompt)?["messages"][0]["role"], &json!("user"))?;
    passed("prompts/get");

    let told = call(client, "interview", json!({})).await?;
    equal(&told, &json!("Ada likes green: green are the hills"))?;
    passed("elicitation and sampling");

    if modern {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut events = client.listen(filter).await?;
        call(client, "test_trigger_tool_change", json!({})).await?;
        let event = events.next().await?.context("the subscription ended")?;
        let method = serde_json::to_value(&event)?["method"].take();
        equal(&method, &json!("notifications/tools/list_changed"))?;
        events.cancel().await?;
    } else {
        hear_of_a_change(client, changed).await?;
    }
    passed("list changed");
    Ok(())
}

/// Says that the tools changed until it was heard: the stream that carries it opens beside the first requests.
async fn hear_of_a_change(
    client: &RunningService<RoleClient, Person>,
    changed: &Notify,
) -> Result<()> {
    for _ in 0..100 {
        call(client, "test_trigger_tool_change", json!({})).await?;
        if tokio::time::timeout(Duration::from_millis(50), changed.notified()).await.is_ok() {
            return Ok(());
        }
    }
    anyhow::bail!("no list change was heard")
}

/// Calls a tool and gives the text of its first content block.
async fn call(
    client: &RunningService<RoleClient, Person>,
    name: &'static str,
    arguments: Value,
) -> Result<Value> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    let result = client.call_tool(params).await?;
    Ok(serde_json::to_value(&result)?["content"][0]["text"].take())
}
