//! The handler written by hand, as fast as the SDK lets it be: definitions are built once, subscriptions hear of changes
//! through a watch that merges what one of them was too slow for, a held call watches its token.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde::Deserialize;
use tokio::sync::watch;

use crate::rows::Rows;

const WATCHED: &str = "test://watched-resource";

const HELD: Duration = Duration::from_secs(3600);

#[derive(Clone)]
pub struct Hand(Arc<Shared>);

struct Shared {
    tools: Vec<Tool>,
    tools_changed: watch::Sender<()>,
    updated: watch::Sender<()>,
    released: Mutex<Vec<(u64, u128)>>,
}

impl Hand {
    /// `tools` are listed beside the handler's own.
    pub fn new(tools: Vec<Tool>) -> Self {
        let schema = serde_json::json!({"type":"object","properties":{"text":{"type":"string"}},"required":["text"]});
        let serde_json::Value::Object(schema) = schema else { unreachable!() };
        let mut all = vec![Tool::new("echo", "Echo a message", Arc::new(schema))];
        if !tools.is_empty() {
            all = tools;
        }
        Self(Arc::new(Shared {
            tools: all,
            tools_changed: watch::Sender::new(()),
            updated: watch::Sender::new(()),
            released: Mutex::default(),
        }))
    }

    fn publish(&self, args: &Publish) -> String {
        let mut last = 0;
        for _ in 0..args.times {
            last = now_ns();
            match &args.uri {
                Some(_) => self.0.updated.send_replace(()),
                None => self.0.tools_changed.send_replace(()),
            }
        }
        last.to_string()
    }

    async fn hold(&self, tag: u64, context: RequestContext<RoleServer>) -> String {
        let _held = Held { tag, shared: &self.0 };
        tokio::select! {
            () = context.ct.cancelled() => {}
            () = tokio::time::sleep(HELD) => {}
        }
        String::new()
    }

    fn released(&self) -> String {
        let released = std::mem::take(&mut *self.0.released.lock().unwrap());
        released.iter().map(|(tag, at)| format!("{tag} {at}\n")).collect()
    }
}

#[derive(Deserialize)]
struct Publish {
    uri: Option<String>,
    times: u32,
}

#[derive(Deserialize)]
struct Hold {
    tag: u64,
}

struct Held<'a> {
    tag: u64,
    shared: &'a Shared,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.shared.released.lock().unwrap().push((self.tag, now_ns()));
    }
}

fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

pub fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_subscribe()
        .build()
}

/// The arguments as the tool's own type.
fn typed<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, ErrorData> {
    let arguments = serde_json::Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(arguments)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

impl ServerHandler for Hand {
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(crate::VERSIONS)
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(capabilities())
            .with_server_info(Implementation::new("rmcp-echo", "0.1.0"))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&capabilities()))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut tools_changed = self.0.tools_changed.subscribe();
        let mut updated = self.0.updated.subscribe();
        let wants_updates = context.accepted().resource_subscriptions.is_some();
        loop {
            let told = tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = updated.changed(), if wants_updates => context.sink().notify_resource_updated(WATCHED).await,
                Ok(()) = tools_changed.changed(), if !wants_updates => context.sink().notify_tool_list_changed().await,
            };
            if told.is_err() {
                return Ok(());
            }
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "echo").then(|| self.0.tools[0].clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.take();
        let text = match &*request.name {
            "echo" => match arguments.and_then(|mut arguments| arguments.remove("text")) {
                Some(serde_json::Value::String(text)) => text,
                _ => return Err(ErrorData::invalid_params("text: string wanted", None)),
            },
            "rows_sum" => typed::<Rows>(arguments)?.sum(),
            "publish" => self.publish(&typed(arguments)?),
            "hold" => self.hold(typed::<Hold>(arguments)?.tag, context).await,
            "released" => self.released(),
            _ => return Err(ErrorData::invalid_params("unknown tool", None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
