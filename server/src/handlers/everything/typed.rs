//! Tools with typed arguments of some depth: values that are repeated in headers, and rows to add up.

use ringmcp::types::Tool;
use ringmcp::{Builder, Context, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::handlers::tool_with_schema;

pub(super) fn add(builder: Builder) -> Builder {
    let route = Tool::new("route")
        .description("Returns its arguments; they are repeated in headers for proxies to route by");
    builder.tool_raw(tool_with_schema(route, route_schema()), route_by).tool(
        "rows_sum",
        "Adds up the ids of rows",
        rows_sum,
    )
}

fn route_schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {
            "region": {
                "type": "string", "description": "Where to", "x-mcp-header": "Region"
            },
            "shard": {
                "type": "integer", "description": "Which part", "x-mcp-header": "Shard"
            },
            "dry": {
                "type": "boolean", "description": "Only pretend", "x-mcp-header": "Dry"
            }
        },
        "required": ["region"]
    })
}

#[derive(Deserialize, Serialize)]
struct Route {
    region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry: Option<bool>,
}

async fn route_by(_: &Context<'_>, args: Route) -> Result<String, ToolError> {
    Ok(serde_json::to_string(&args)?)
}

#[derive(Deserialize, JsonSchema)]
struct Rows {
    /// The rows.
    rows: Vec<Row>,
}

#[derive(Deserialize, JsonSchema)]
struct Row {
    /// Added up.
    id: u64,
    name: String,
    active: bool,
    score: f64,
    tags: Vec<String>,
    pos: Position,
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Position {
    lat: f64,
    lon: f64,
    alt: Option<f64>,
}

async fn rows_sum(_: &Context<'_>, Rows { rows }: Rows) -> Result<String, ToolError> {
    let ids = rows.iter().fold(0_u64, |sum, row| sum.wrapping_add(row.id));
    let active = rows.iter().filter(|row| row.active).count();
    let score: f64 = rows.iter().map(|row| row.score).sum();
    let tags: usize = rows.iter().map(|row| row.tags.len()).sum();
    let noted = rows.iter().filter(|row| row.note.is_some()).count();
    let names: usize = rows.iter().map(|row| row.name.len()).sum();
    let height: f64 = rows.iter().filter_map(|row| row.pos.alt).sum();
    let north = rows.iter().filter(|row| row.pos.lat > 0.0 && row.pos.lon.is_finite()).count();
    Ok(format!(
        "rows={} ids={ids} active={active} score={score} tags={tags} notes={noted} \
         name_bytes={names} north={north} height={height}",
        rows.len()
    ))
}
