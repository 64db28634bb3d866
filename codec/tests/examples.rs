//! Every published example of the protocol goes through the type its folder names and comes out as the
//! same JSON.

use std::fs;
use std::path::Path;

use ringmcp_codec::types::schema::PrimitiveSchema;
use ringmcp_codec::types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/examples");
const EXAMPLES_TOTAL: usize = 129;

/// [RPC-07] [RPC-09] [RPC-18] [CALL-04] [CALL-08] [RES-04] [MR-03] [EL-01] all 129 examples round-trip;
/// a folder without a type fails.
#[test]
fn every_example_round_trips() {
    if !Path::new(EXAMPLES).is_dir() {
        println!("SKIPPED: every_example_round_trips, no examples at {EXAMPLES}");
        return;
    }
    let mut total = 0;
    for folder in sorted(EXAMPLES) {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("folder has a name");
        for file in sorted(&folder) {
            let text = fs::read_to_string(&file).expect("example is readable");
            let through = round_trip(name, &text)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let expected = serde_json::from_str(&text).expect("example is JSON");
            assert_eq!(through, expected_of(name, expected), "{}", file.display());
            total += 1;
        }
    }
    assert_eq!(total, EXAMPLES_TOTAL);
}

/// The JSON that must come out. The one example of `roots/list` has an `id`, which a bare input request
/// has not (MR-03), and no `params`, which are written as `{}` (D-27).
fn expected_of(folder: &str, example: Value) -> Value {
    match folder {
        "ListRootsRequest" => json!({"method": "roots/list", "params": {}}),
        _ => example,
    }
}

fn round_trip(folder: &str, text: &str) -> Result<Value, String> {
    match folder {
        "AudioContent" | "EmbeddedResource" | "ImageContent" | "ResourceLink" | "TextContent" => {
            through::<Content>(text)
        }
        "BlobResourceContents" | "TextResourceContents" => through::<ResourceContents>(text),
        "BooleanSchema"
        | "NumberSchema"
        | "StringSchema"
        | "TitledMultiSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "UntitledSingleSelectEnumSchema" => through::<PrimitiveSchema>(text),
        "ToolResultContent" | "ToolUseContent" => through::<SamplingContent>(text),
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" => {
            through::<InputRequest>(text)
        }
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" => {
            through::<ErrorObject>(text)
        }
        "HeaderMismatchError" => through::<ErrorResponse>(text),
        "MissingRequiredClientCapabilityError" => error_with::<MissingCapabilityData>(text),
        "UnsupportedProtocolVersionError" => error_with::<UnsupportedVersionData>(text),
        _ => request(folder, text)
            .or_else(|| result(folder, text))
            .or_else(|| notification(folder, text))
            .or_else(|| part(folder, text))
            .unwrap_or_else(|| Err("no type for this folder".to_owned())),
    }
}

fn request(folder: &str, text: &str) -> Option<Result<Value, String>> {
    Some(match folder {
        "CallToolRequest" => through::<Request<CallToolParams>>(text),
        "CallToolRequestParams" => through::<CallToolParams>(text),
        "CompleteRequest" => through::<Request<CompleteParams>>(text),
        "CompleteRequestParams" => through::<CompleteParams>(text),
        "CreateMessageRequestParams" => through::<CreateMessageParams>(text),
        "DiscoverRequest" => through::<Request<RequestParams>>(text),
        "ElicitRequestFormParams" => through::<ElicitForm>(text),
        "ElicitRequestURLParams" => through::<ElicitUrl>(text),
        "GetPromptRequest" => through::<Request<GetPromptParams>>(text),
        "GetPromptRequestParams" => through::<GetPromptParams>(text),
        "ListPromptsRequest"
        | "ListResourceTemplatesRequest"
        | "ListResourcesRequest"
        | "ListToolsRequest" => through::<Request<PaginatedParams>>(text),
        "PaginatedRequestParams" => through::<PaginatedParams>(text),
        "ReadResourceRequest" => through::<Request<ReadResourceParams>>(text),
        "SubscriptionsListenRequest" => through::<Request<ListenParams>>(text),
        _ => return None,
    })
}

fn result(folder: &str, text: &str) -> Option<Result<Value, String>> {
    Some(match folder {
        "CallToolResult" => through::<CallToolResult>(text),
        "CallToolResultResponse" => through::<ResultResponse<CallToolResult>>(text),
        "CompleteResult" => through::<CompleteResult>(text),
        "CompleteResultResponse" => through::<ResultResponse<CompleteResult>>(text),
        "CreateMessageResult" => through::<CreateMessageResult>(text),
        "DiscoverResult" => through::<DiscoverResult>(text),
        "DiscoverResultResponse" => through::<ResultResponse<DiscoverResult>>(text),
        "ElicitResult" => through::<ElicitResult>(text),
        "GetPromptResult" => through::<GetPromptResult>(text),
        "GetPromptResultResponse" => through::<ResultResponse<GetPromptResult>>(text),
        "InputRequiredResult" => through::<InputRequired>(text),
        "ListPromptsResult" => through::<ListPromptsResult>(text),
        "ListPromptsResultResponse" => through::<ResultResponse<ListPromptsResult>>(text),
        "ListResourceTemplatesResult" => through::<ListResourceTemplatesResult>(text),
        "ListResourceTemplatesResultResponse" => {
            through::<ResultResponse<ListResourceTemplatesResult>>(text)
        }
        "ListResourcesResult" => through::<ListResourcesResult>(text),
        "ListResourcesResultResponse" => through::<ResultResponse<ListResourcesResult>>(text),
        "ListRootsResult" => through::<ListRootsResult>(text),
        "ListToolsResult" => through::<ListToolsResult>(text),
        "ListToolsResultResponse" => through::<ResultResponse<ListToolsResult>>(text),
        "ReadResourceResult" => through::<ReadResourceResult>(text),
        "ReadResourceResultResponse" => through::<ResultResponse<ReadResourceResult>>(text),
        "SubscriptionsListenResult" => through::<ListenResult>(text),
        "SubscriptionsListenResultResponse" => through::<ResultResponse<ListenResult>>(text),
        _ => return None,
    })
}

fn notification(folder: &str, text: &str) -> Option<Result<Value, String>> {
    Some(match folder {
        "CancelledNotification" => through::<Notification<CancelledParams>>(text),
        "CancelledNotificationParams" => through::<CancelledParams>(text),
        "LoggingMessageNotification" => through::<Notification<LoggingMessageParams>>(text),
        "LoggingMessageNotificationParams" => through::<LoggingMessageParams>(text),
        "ProgressNotification" => through::<Notification<ProgressParams>>(text),
        "ProgressNotificationParams" => through::<ProgressParams>(text),
        "PromptListChangedNotification"
        | "ResourceListChangedNotification"
        | "ToolListChangedNotification" => through::<Notification<ListChangedParams>>(text),
        "ResourceUpdatedNotification" => through::<Notification<ResourceUpdatedParams>>(text),
        "ResourceUpdatedNotificationParams" => through::<ResourceUpdatedParams>(text),
        "SubscriptionsAcknowledgedNotification" => {
            through::<Notification<AcknowledgedParams>>(text)
        }
        _ => return None,
    })
}

fn part(folder: &str, text: &str) -> Option<Result<Value, String>> {
    Some(match folder {
        "ClientCapabilities" => through::<ClientCapabilities>(text),
        "InputRequests" => through::<InputRequests>(text),
        "InputResponses" => through::<InputResponses>(text),
        "ModelPreferences" => through::<ModelPreferences>(text),
        "Resource" => through::<Resource>(text),
        "Root" => through::<Root>(text),
        "SamplingMessage" => through::<SamplingMessage>(text),
        "ServerCapabilities" => through::<ServerCapabilities>(text),
        "Tool" => through::<Tool>(text),
        _ => return None,
    })
}

fn through<T: DeserializeOwned + Serialize>(text: &str) -> Result<Value, String> {
    let typed: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let written = serde_json::to_string(&typed).map_err(|error| error.to_string())?;
    serde_json::from_str(&written).map_err(|error| error.to_string())
}

/// An error frame whose `data` must go through its own type as well.
fn error_with<T: DeserializeOwned + Serialize>(text: &str) -> Result<Value, String> {
    let frame: ErrorResponse = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let data = frame.error.data.ok_or("no data")?;
    if through::<T>(&data.to_string())? != data {
        return Err("data does not round-trip".to_owned());
    }
    through::<ErrorResponse>(text)
}

fn sorted(folder: impl AsRef<Path>) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("folder is readable")
        .map(|entry| entry.expect("entry is readable").path())
        .collect();
    paths.sort();
    paths
}
