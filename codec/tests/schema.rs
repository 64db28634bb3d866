//! What the builders write is valid against the published schema of the protocol, and the hand-written
//! check of forms agrees with a general JSON Schema validator.

use std::fs;

use proptest::prelude::*;
use ringmcp_codec::types::schema::ChoiceItems;
use ringmcp_codec::types::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/schema/2026-07-28.json");

/// [RPC-07] [RPC-09] [TOOL-05] [CALL-04] [CALL-09] [RES-02] [RES-03] [RES-04] [PRM-02] [PRM-03] [CMP-03]
/// [SUB-02] [SUB-14] [MR-03] [EL-01] [EL-02] [EL-06] [DSC-02] built values pass the published schema.
#[test]
fn built_values_pass_the_published_schema() {
    let Ok(text) = fs::read_to_string(SCHEMA) else {
        println!("SKIPPED: built_values_pass_the_published_schema, no schema at {SCHEMA}");
        return;
    };
    let schema: Value = serde_json::from_str(&text).expect("schema is JSON");
    let cases = definitions().into_iter().chain(results()).chain(messages()).chain(input());
    let mut count = 0;
    for (name, value) in cases {
        let errors = errors_of(&schema, name, &value);
        assert!(errors.is_empty(), "{name}: {errors:?}\n{value:#}");
        count += 1;
    }
    assert!(count >= 25, "only {count} values were checked");
    // The validator must be able to fail.
    assert!(!errors_of(&schema, "Tool", &json!({"name": 1})).is_empty());
    assert!(!errors_of(&schema, "ElicitResult", &json!({"action": "maybe"})).is_empty());
}

fn errors_of(schema: &Value, definition: &str, value: &Value) -> Vec<String> {
    let root = json!({
        "$schema": schema["$schema"],
        "$ref": format!("#/$defs/{definition}"),
        "$defs": schema["$defs"],
    });
    let validator = jsonschema::validator_for(&root).expect("published schema compiles");
    validator.iter_errors(value).map(|error| error.to_string()).collect()
}

type Case = (&'static str, Value);

fn case(name: &'static str, value: impl Serialize) -> Case {
    (name, serde_json::to_value(value).expect("serializes"))
}

fn icon() -> Icon {
    let icon = Icon::new("https://example.com/i.png").and_then(|icon| icon.size("48x48"));
    icon.expect("good icon").mime_type("image/png").theme(IconTheme::Dark)
}

fn annotations() -> Annotations {
    let annotations = Annotations::new().audience([Role::User, Role::Assistant]).priority(0.5);
    annotations.and_then(|a| a.last_modified("2026-07-28T00:00:00Z")).expect("in range")
}

fn tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"a": {"type": "number"}}});
    Tool::new("add")
        .title("Add")
        .description("Adds")
        .icon(icon())
        .annotations(ToolAnnotations::new().title("Adder").read_only(true).open_world(false))
        .input_schema(schema)
        .and_then(|tool| tool.output_schema(json!({"type": "number"})))
        .expect("good schemas")
}

fn resource() -> Resource {
    Resource::new("file:///a", "a").title("A").size(3).icon(icon()).annotations(annotations())
}

fn definitions() -> Vec<Case> {
    let server = Implementation::new("s", "1").title("S").website_url("https://example.com");
    let capabilities =
        ServerCapabilities::default().tools(true).prompts(false).resources(true, true).logging();
    vec![
        case("Tool", tool()),
        case("Tool", Tool::new("no_arguments")),
        case("Resource", resource()),
        case(
            "ResourceTemplate",
            ResourceTemplate::new("file:///{p}", "f").annotations(annotations()),
        ),
        case(
            "Prompt",
            Prompt::new("p").argument("a").argument(PromptArgument::new("b").required()),
        ),
        case("Implementation", server.icon(icon())),
        case("ServerCapabilities", capabilities.completions()),
        case("ClientCapabilities", ClientCapabilities::default()),
    ]
}

fn results() -> Vec<Case> {
    let (ttl_ms, cache_scope) = (Some(0), Some(CacheScope::Private));
    let blocks = CallToolResult::text("t")
        .content(Content::image([1], "image/png").annotations(annotations()))
        .content(Content::audio([2], "audio/wav"))
        .content(Content::link(resource()))
        .content(ResourceContents::blob("file:///a", [3]).mime_type("a/b"));
    let page = Some("next".to_owned());
    let mut discover = DiscoverResult::new(["2026-07-28"], ServerCapabilities::default());
    (discover.ttl_ms, discover.cache_scope) = (ttl_ms, cache_scope);
    let tools = ListToolsResult {
        tools: vec![tool()],
        next_cursor: page,
        ttl_ms,
        cache_scope,
        ..Default::default()
    };
    vec![
        case("CallToolResult", blocks),
        case("CallToolResult", CallToolResult::structured(Value::Null)),
        case("CallToolResult", CallToolResult::error("no")),
        case("ListToolsResultResponse", ResultResponse::new(1, tools)),
        case("GetPromptResult", GetPromptResult::new().description("d").user("u").assistant("a")),
        case(
            "ReadResourceResult",
            ReadResourceResult::new([ResourceContents::text("file:///a", "t")])
                .cache(5, CacheScope::Public),
        ),
        case(
            "CompleteResult",
            CompleteResult::from(Completion::new((0..250).map(|n| n.to_string()))),
        ),
        case("DiscoverResult", discover),
        case("EmptyResult", EmptyResult::default()),
        case("SubscriptionsListenResult", ListenResult::new(&RequestId::from("l"))),
    ]
}

fn messages() -> Vec<Case> {
    let id = RequestId::from(u64::MAX);
    let meta = RequestMeta::new("2026-07-28", ClientCapabilities::default());
    let call =
        CallToolParams { meta, name: "add".into(), arguments: None, retry: Retry::default() };
    let filter = SubscriptionFilter { tools_list_changed: Some(true), ..Default::default() };
    let ack = AcknowledgedParams::new(&id, filter);
    let error = ErrorObject::new(-32602, "Unknown tool: x").data(json!({"a": 1}));
    vec![
        case("CallToolRequest", Request::new(id.clone(), "tools/call", call)),
        case("JSONRPCErrorResponse", ErrorResponse::new(None, error)),
        case(
            "ProgressNotification",
            Notification::new("notifications/progress", ProgressParams::new("t", 1).total(2.5)),
        ),
        case(
            "LoggingMessageNotification",
            Notification::new(
                "notifications/message",
                LoggingMessageParams::new(LoggingLevel::Info, json!(["d"])).logger("l"),
            ),
        ),
        case(
            "SubscriptionsAcknowledgedNotification",
            Notification::new("notifications/subscriptions/acknowledged", ack),
        ),
    ]
}

fn input() -> Vec<Case> {
    let form = ElicitForm::new("m")
        .string("name", |s| s.required().min_length(1).format(StringFormat::Email).title("N"))
        .integer("age", |n| n.minimum(0).default(3))
        .number("score", |n| n.maximum(1.5))
        .boolean("ok", |b| b.default(true).description("d"))
        .choice("one", ["a", "b"], |c| c.default("a").enum_names(["A", "B"]))
        .titled_choice("titled", [("a", "A")], |c| c)
        .multi_choice("many", ChoiceItems::plain(["a"]), |m| m.min_items(0).default(["a"]))
        .multi_choice("many_titled", ChoiceItems::titled([("a", "A")]), |m| m.max_items(1));
    let url = ElicitUrl::new("m", "https://example.com/x").expect("good url");
    let sampling = SamplingRequest::new(10)
        .user("q")
        .assistant(vec![SamplingContent::tool_use("1", "add", Map::new())])
        .user(vec![SamplingContent::tool_result("1", [Content::text("2")])])
        .system_prompt("s")
        .temperature(0.5)
        .stop_sequence("x")
        .model_preferences(ModelPreferences::new().hint("h").cost(0.5))
        .tool(tool())
        .tool_choice(ToolChoiceMode::Auto);
    assert_eq!(sampling.validate(), Ok(()));
    let asked = InputRequired::new()
        .ask("form", form.clone())
        .and_then(|asked| asked.ask("url", url.clone()))
        .and_then(|asked| asked.ask("model", sampling.clone()))
        .and_then(|asked| asked.ask("roots", ListRootsParams::default()))
        .expect("four keys");
    let content = json!({"name": "a@b", "age": 3, "ok": true, "many": ["a"]});
    let content = content.as_object().expect("an object").clone();
    vec![
        case("ElicitRequestFormParams", form),
        case("ElicitRequestURLParams", url),
        case("CreateMessageRequestParams", sampling),
        case("InputRequiredResult", asked.state("s")),
        case("ElicitResult", ElicitResult::accept(content)),
        case("ElicitResult", ElicitResult::cancel()),
    ]
}

fn any_form() -> impl Strategy<Value = ElicitForm> {
    let bound = || proptest::option::of(0u64..4);
    let number = || {
        proptest::option::of(prop_oneof![
            (-3i64..4).prop_map(Num::from),
            (-3.0..4.0).prop_map(Num::from)
        ])
    };
    (bound(), bound(), number(), number(), bound(), bound(), any::<[bool; 5]>()).prop_map(
        |(shortest, longest, least, most, fewest, most_items, required)| {
            let mut form = ElicitForm::new("m");
            form = form.string("s", |mut s| {
                s = if let Some(n) = shortest { s.min_length(n) } else { s };
                s = if let Some(n) = longest { s.max_length(n) } else { s };
                if required[0] { s.required() } else { s }
            });
            let bounded = |mut n: Field<schema::NumberSchema>| {
                n = if let Some(least) = least.clone() { n.minimum(least) } else { n };
                if let Some(most) = most.clone() { n.maximum(most) } else { n }
            };
            form =
                form.integer("i", |n| if required[1] { bounded(n).required() } else { bounded(n) });
            form = form.number("n", bounded);
            form = form.boolean("b", |b| if required[2] { b.required() } else { b });
            form =
                form.choice("c", ["", "a", "ab"], |c| if required[3] { c.required() } else { c });
            form.multi_choice("m", ChoiceItems::titled([("a", "A"), ("ab", "B")]), |mut m| {
                m = if let Some(n) = fewest { m.min_items(n) } else { m };
                m = if let Some(n) = most_items { m.max_items(n) } else { m };
                if required[4] { m.required() } else { m }
            })
        },
    )
}

/// What a client may fill in: mostly of the right type, so that bounds and choices are reached.
fn any_content() -> impl Strategy<Value = Map<String, Value>> {
    let text = || prop_oneof![Just("a".to_owned()), Just("ab".to_owned()), "[aé\u{1F600}]{0,4}"];
    let number = || {
        prop_oneof![
            (-4i64..5).prop_map(Value::from),
            (-4.0..5.0f64).prop_map(Value::from),
            (-4i32..5).prop_map(|n| Value::from(f64::from(n))),
        ]
    };
    let list = || proptest::collection::vec(text(), 0..4).prop_map(Value::from);
    let odd =
        || prop_oneof![Just(Value::Null), Just(json!([1])), Just(json!({})), Just(json!("a"))];
    let maybe = |typed: BoxedStrategy<Value>| {
        proptest::option::weighted(0.8, prop_oneof![19 => typed, 1 => odd().boxed()])
    };
    let texts = || text().prop_map(Value::from).boxed();
    (
        maybe(texts()),
        maybe(number().boxed()),
        maybe(number().boxed()),
        maybe(any::<bool>().prop_map(Value::from).boxed()),
        maybe(texts()),
        maybe(list().boxed()),
    )
        .prop_map(|(s, i, n, b, c, m)| {
            let fields = [("s", s), ("i", i), ("n", n), ("b", b), ("c", c), ("m", m)];
            let filled = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
            filled.map(|(name, value)| (name.to_owned(), value)).collect()
        })
}

proptest! {
    /// [MR-25] the hand-written check of a filled-in form says what a JSON Schema validator says, of the
    /// whole form and of each field by itself.
    #[test]
    fn form_check_agrees_with_a_validator(form in any_form(), content in any_content()) {
        agrees(&form, &content)?;
        for (name, field) in form.requested_schema.properties.iter() {
            let mut single = ElicitForm::new("m");
            single.requested_schema.properties.insert(name, field.clone());
            agrees(&single, &content)?;
        }
    }
}

fn agrees(form: &ElicitForm, content: &Map<String, Value>) -> Result<(), TestCaseError> {
    let schema = serde_json::to_value(&form.requested_schema).expect("serializes");
    let expected = jsonschema::is_valid(&schema, &Value::Object(content.clone()));
    let checked = form.check(content);
    prop_assert_eq!(checked.is_ok(), expected, "{:?} {} {:?}", checked, schema, content);
    Ok(())
}
