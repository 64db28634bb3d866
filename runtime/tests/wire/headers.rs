//! The headers that repeat the body: `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*` (ledger sections
//! 3b to 3d).

use ringmcp::types::{Prompt, Resource, Tool};
use ringmcp::{Builder, Context, HandlerError, Server, ToolError};
use serde_json::{Map, Value, json};

use crate::support::{PV, Request, Running, serve};

type Arguments = Map<String, Value>;

/// Names that headers can hold, and names that they cannot.
const NAMES: [&str; 8] = [
    "tool",
    "日本語",
    " padded ",
    "line1\nline2",
    "=?base64?literal?=",
    "=?base64?=",
    "SGVsbG8=",
    "caf\u{e9}",
];

async fn echo(_: &Context<'_>, arguments: Arguments) -> Result<String, ToolError> {
    Ok(Value::Object(arguments).to_string())
}

fn server() -> Builder {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "shard": { "type": "integer", "x-mcp-header": "Shard" },
            "dry": { "type": "boolean", "x-mcp-header": "Dry" },
            "where": {
                "type": "object",
                "properties": {
                    "deep": {
                        "type": "object",
                        "properties": { "city": { "type": "string", "x-mcp-header": "City" } },
                    },
                },
            },
        },
    });
    let route = Tool::new("route").input_schema(schema).expect("a schema");
    let named = NAMES
        .iter()
        .fold(Server::builder("headers", "1"), |builder, name| builder.tool(*name, "Echoes", echo));
    named
        .tool_raw(route, echo)
        .prompt_with(Prompt::new("greet"), async |_: &Context, _: Arguments| {
            Ok::<_, HandlerError>("hello")
        })
        .resource(Resource::new("test://hello", "hello"), async |_: &Context| {
            Ok::<_, HandlerError>("hello")
        })
}

const REFUSED: (u16, i64) = (400, -32020);

/// [HDR-01] [HDR-02] [HDR-05] [HDR-17] the version header is there and says what the body says, unencoded; the body
/// decides the era.
#[test]
fn protocol_version() {
    let running = serve(server());
    let list = || Request::new("tools/list", json!({}));
    let version = |value: &str| running.send(&list().header("MCP-Protocol-Version", value));
    assert_eq!(running.send(&list().without_header("MCP-Protocol-Version")).error(), REFUSED);
    for other in [
        "",
        "v999.0.0",
        "2025-11-25",
        "2026-07-2",
        "2026-07-288",
        "=?base64?MjAyNi0wNy0yOA==?=",
        "2026-07-28, 2026-07-28",
    ] {
        assert_eq!(version(other).error(), REFUSED, "{other}");
    }
    // Header served, body not: they differ before either is judged.
    assert_eq!(running.send(&list().meta(PV, json!("v999.0.0"))).error(), REFUSED);
    // The header alone makes nothing modern.
    assert_eq!(running.send(&list().without_meta(PV)).error(), (400, -32602));
    assert_eq!(version(" \t2026-07-28\t ").status, 200);
}

/// [HDR-10] [HDR-15] [HDR-16] [HDR-17] [HDR-20] the method header equals the method byte for byte, under a name in any
/// case, between blanks, never encoded.
#[test]
fn method() {
    let running = serve(server());
    let list = || Request::new("tools/list", json!({}));
    for other in [
        "",
        "prompts/list",
        "TOOLS/LIST",
        "tools/list/",
        "tools/lis",
        "=?base64?dG9vbHMvbGlzdA==?=",
        "tools/list,tools/list",
    ] {
        let answer = running.send(&list().header("Mcp-Method", other).id(json!("h")));
        assert_eq!(answer.error(), REFUSED, "{other}");
        assert_eq!(answer.message()["id"], "h");
    }
    for name in ["mcp-method", "MCP-METHOD", "mCp-MeThOd"] {
        let request = list().without_header("Mcp-Method").add_header(name, b" \t tools/list \t");
        assert_eq!(running.send(&request).status, 200, "{name}");
    }
}

/// [HDR-11] [HDR-14] each of the three methods that name something needs the name header; a body that names nothing is
/// for the params rung to refuse.
#[test]
fn name_of_each_method() {
    let running = serve(server());
    for (method, member, value) in [
        ("tools/call", "name", "tool"),
        ("prompts/get", "name", "greet"),
        ("resources/read", "uri", "test://hello"),
    ] {
        let request = || Request::new(method, json!({ member: value }));
        assert_eq!(running.send(&request()).status, 200, "{method}");
        for wrong in ["", "other", &value.to_uppercase(), &format!("{value}x"), &value[1..]] {
            assert_eq!(
                running.send(&request().header("Mcp-Name", wrong)).error(),
                REFUSED,
                "{method} {wrong}"
            );
        }
        assert_eq!(running.send(&request().without_header("Mcp-Name")).error(), REFUSED);
        // The name of a tool that is not there is compared all the same.
        let missing = request().param(member, json!("test://missing"));
        assert_eq!(running.send(&missing).error(), REFUSED);
        for (body, header) in [(json!(5), true), (Value::Null, true), (json!([value]), false)] {
            let mut request = request().param(member, body);
            if !header {
                request = request.without_header("Mcp-Name");
            }
            assert_eq!(running.send(&request).error(), (200, -32602), "{method}");
        }
    }
    let nameless = Request::new("tools/call", json!({}));
    assert_eq!(running.send(&nameless).error(), (200, -32602));
    assert_eq!(running.send(&nameless.header("Mcp-Name", "tool")).error(), (200, -32602));
}

/// [HDR-13] other methods do not look at the name header.
#[test]
fn stray_names() {
    let running = serve(server());
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "server/discover",
    ] {
        for stray in [b"stray".as_slice(), b"=?base64?!!!?=", b"\xff"] {
            let request = Request::new(method, json!({})).add_header("Mcp-Name", stray);
            running.send(&request).result(method);
        }
    }
}

fn name(running: &Running, name: &str, header: &[u8]) -> (u16, i64) {
    let request = Request::call(name, json!({})).without_header("Mcp-Name");
    let answer = running.send(&request.add_header("Mcp-Name", header));
    if answer.status == 200 { (200, 0) } else { answer.error() }
}

/// [HDR-17] [HDR-18] [PAR-01] [PAR-02] [PAR-03] [PAR-04] names in headers are plain where they can be and Base64 where
/// they cannot; what is neither is refused.
#[test]
fn encoded_names() {
    let running = serve(server());
    let served: [(&str, &[u8]); 10] = [
        ("tool", b"tool"),
        ("tool", b"=?base64?dG9vbA==?="),
        ("tool", b"  tool\t"),
        ("日本語", "=?base64?5pel5pys6Kqe?=".as_bytes()),
        (" padded ", b"=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", b"=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", b"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?=", b"=?base64?="),
        ("SGVsbG8=", b"SGVsbG8="),
        ("caf\u{e9}", b"=?base64?Y2Fmw6k=?="),
    ];
    for (tool, header) in served {
        assert_eq!(name(&running, tool, header), (200, 0), "{tool}");
    }
    let refused: [(&str, &[u8]); 15] = [
        ("tool", b"=?BASE64?dG9vbA==?="),
        ("tool", b"=?base64?dG9vbA==?"),
        ("tool", b"?base64?dG9vbA==?="),
        ("tool", b"=?base64?dG9vbA=?="),
        ("tool", b"=?base64?dG9vbA?="),
        ("tool", b"=?base64?dG9vbB==?="),
        ("tool", b"=?base64?dG9v bA==?="),
        ("tool", b"=?base64?dG9vbA!!?="),
        ("tool", b"=?base64?_-8=?="),
        ("tool", b"=?base64?/w==?="),
        ("tool", b"=?base64??="),
        ("caf\u{e9}", b"caf\xc3\xa9"),
        ("caf\u{e9}", b"caf\xe9"),
        (" padded ", b" padded "),
        // Twice encoded is once encoded too often.
        ("tool", b"=?base64?PT9iYXNlNjQ/ZEc5dmJBPT0/PQ==?="),
    ];
    for (tool, header) in refused {
        assert_eq!(
            name(&running, tool, header),
            REFUSED,
            "{tool} {:?}",
            String::from_utf8_lossy(header)
        );
    }
}

/// [HDR-18] characters that a header cannot hold are refused wherever a standard header is read.
#[test]
fn illegal_characters() {
    let running = serve(server());
    for header in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        let call = || Request::call("tool", json!({}));
        let value = String::from_utf8(
            call().headers.iter().find(|(name, _)| name == header).expect("it is there").1.clone(),
        );
        let value = value.expect("ASCII");
        for byte in [0x80, 0xe9, 0xff] {
            let mut bytes = value.clone().into_bytes();
            bytes.push(byte);
            let request = call().without_header(header).add_header(header, &bytes);
            assert_eq!(running.send(&request).error(), REFUSED, "{header} {byte:x}");
        }
        // Control characters end the request before anything is compared.
        for byte in [0x00, 0x01, 0x0b, 0x1f, 0x7f] {
            let mut bytes = value.clone().into_bytes();
            bytes.insert(1, byte);
            let request = call().without_header(header).add_header(header, &bytes);
            assert_eq!(running.send(&request).status, 400, "{header} {byte:x}");
        }
    }
}

/// [HDR-19] a standard header that comes twice is refused, whether or not its values agree.
#[test]
fn repeated_headers() {
    let running = serve(server());
    for (header, same) in [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "route"),
        ("Mcp-Param-Region", "eu"),
    ] {
        for second in [same, "other", ""] {
            let request = Request::call("route", json!({ "region": "eu" }))
                .header("Mcp-Param-Region", "eu")
                .add_header(&header.to_lowercase(), second.as_bytes());
            assert_eq!(running.send(&request).error(), REFUSED, "{header} {second}");
        }
    }
}

/// Name, behind `Mcp-Param-`, and value of a header.
type Param<'a> = (&'a str, &'a [u8]);

/// A call of `route` with these headers, whole names.
fn route(running: &Running, arguments: Value, headers: &[Param]) -> (u16, i64) {
    let request =
        headers.iter().fold(Request::call("route", arguments), |request, (name, value)| {
            request.add_header(&format!("Mcp-Param-{name}"), value)
        });
    let answer = running.send(&request);
    if answer.status == 200 {
        let failed = answer.result("tools/call").get("isError") == Some(&json!(true));
        return (200, i64::from(failed));
    }
    let message = answer.error_object()["message"].as_str().expect("text").to_owned();
    assert!(message.contains("Mcp-Param-"), "it names the header: {message}");
    answer.error()
}

const SERVED: (u16, i64) = (200, 0);
/// The arguments do not fit the schema: the tool's failure, not the header's.
const UNFIT: (u16, i64) = (200, 1);

/// [PAR-06] [PAR-07] [PAR-12] a mirrored argument needs its header, at any depth; an argument that is absent or null
/// has none, and one sent anyway contradicts the body.
#[test]
fn presence() {
    let running = serve(server());
    let nested = json!({ "where": { "deep": { "city": "Bern" } } });
    let cases: [(Value, &[Param], (u16, i64)); 17] = [
        (json!({}), &[], SERVED),
        (json!({ "region": "eu" }), &[], REFUSED),
        (json!({ "region": "eu" }), &[("Region", b"eu")], SERVED),
        (json!({ "region": "eu" }), &[("region", b"eu")], SERVED),
        (json!({ "region": "eu" }), &[("REGION", b" eu ")], SERVED),
        (json!({ "region": "eu" }), &[("Region", b"us")], REFUSED),
        (json!({ "region": "eu" }), &[("Region", b"EU")], REFUSED),
        (json!({ "region": "eu" }), &[("Region", b"")], REFUSED),
        (json!({ "region": "eu" }), &[("Shard", b"eu")], REFUSED),
        (json!({}), &[("Region", b"eu")], REFUSED),
        (json!({}), &[("Region", b"")], REFUSED),
        (json!({ "region": null }), &[("Region", b"eu")], REFUSED),
        (json!({ "region": null }), &[], UNFIT),
        (nested.clone(), &[("City", b"Bern")], SERVED),
        (nested.clone(), &[], REFUSED),
        (nested, &[("City", b"Basel")], REFUSED),
        (json!({ "where": { "city": "Bern" } }), &[("City", b"Bern")], REFUSED),
    ];
    for (arguments, headers, expected) in cases {
        assert_eq!(
            route(&running, arguments.clone(), headers),
            expected,
            "{arguments} {headers:?}"
        );
    }
}

/// [PAR-02] [PAR-03] [PAR-05] [PAR-09] [PAR-11] strings are compared by code point, plain or encoded.
#[test]
fn strings() {
    let running = serve(server());
    let region = |body: &str, header: &[u8]| {
        route(&running, json!({ "region": body }), &[("Region", header)])
    };
    assert_eq!(region("", b""), SERVED);
    assert_eq!(region("", b"=?base64??="), SERVED);
    assert_eq!(region("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=".as_bytes()), SERVED);
    assert_eq!(region(" padded ", b"=?base64?IHBhZGRlZCA=?="), SERVED);
    assert_eq!(region(" padded ", b" padded "), REFUSED);
    assert_eq!(region("a b", b"a b"), SERVED);
    assert_eq!(region("a  b", b"a b"), REFUSED);
    assert_eq!(region("SGVsbG8=", b"SGVsbG8="), SERVED);
    assert_eq!(region("Hello", b"SGVsbG8="), REFUSED);
    assert_eq!(region("=?base64?SGVsbG8=", b"=?base64?SGVsbG8="), SERVED);
    assert_eq!(region("=?BASE64?SGVsbG8=?=", b"=?BASE64?SGVsbG8=?="), SERVED);
    assert_eq!(region("=?base64?SGVsbG8=?=", b"=?base64?SGVsbG8=?="), REFUSED);
    // Composed and decomposed.
    assert_eq!(region("\u{e9}", b"=?base64?w6k=?="), SERVED);
    assert_eq!(region("e\u{301}", b"=?base64?w6k=?="), REFUSED);
    for bad in [
        b"=?base64?SGVsbG8?=".as_slice(),
        b"=?base64?SGVs!!!bG8=?=",
        b"=?base64?SGVsbG9=?=",
        b"=?base64?/w==?=",
        b"\xe9",
        b"caf\xc3\xa9",
    ] {
        assert_eq!(region("Hello", bad), REFUSED, "{}", String::from_utf8_lossy(bad));
        assert_eq!(
            route(&running, json!({}), &[("Region", bad)]),
            REFUSED,
            "with nothing to compare"
        );
        assert_eq!(route(&running, json!({}), &[("Unheard-Of", bad)]), SERVED, "nobody reads it");
    }
}

/// [PAR-08] [PAR-09] [PAR-10] integers are compared as numbers in strict decimal, booleans as two words.
#[test]
fn numbers_and_booleans() {
    let running = serve(server());
    let shard = |body: Value, header: &[u8]| {
        route(&running, json!({ "shard": body }), &[("Shard", header)])
    };
    for same in ["42", "42.0", "42.000", "042", "=?base64?NDI=?="] {
        assert_eq!(shard(json!(42), same.as_bytes()), SERVED, "{same}");
    }
    for other in [
        "43", "42.5", "0x2a", "4.2e1", "+42", "4 2", "42.", ".42", "-42", "", "42,0", "４２",
        "--42", "1e999999",
    ] {
        assert_eq!(shard(json!(42), other.as_bytes()), REFUSED, "{other}");
    }
    assert_eq!(shard(json!(-7), b"-7"), SERVED);
    assert_eq!(shard(json!(0), b"-0"), SERVED);
    assert_eq!(shard(json!(42.0), b"42"), SERVED);
    assert_eq!(shard(json!(9_007_199_254_740_991_i64), b"9007199254740991"), SERVED);
    assert_eq!(shard(json!(9_007_199_254_740_993_i64), b"9007199254740993"), REFUSED);
    assert_eq!(shard(json!(-9_007_199_254_740_993_i64), b"-9007199254740993"), REFUSED);
    // A type error is the schema's to report.
    assert_eq!(shard(json!("42"), b"42"), UNFIT);
    assert_eq!(shard(json!(4.5), b"4.5"), UNFIT);
    assert_eq!(shard(json!([42]), b"42"), UNFIT);

    let dry =
        |body: Value, header: &[u8]| route(&running, json!({ "dry": body }), &[("Dry", header)]);
    assert_eq!(dry(json!(true), b"true"), SERVED);
    assert_eq!(dry(json!(false), b"false"), SERVED);
    for other in ["True", "TRUE", "1", "yes", "false", ""] {
        assert_eq!(dry(json!(true), other.as_bytes()), REFUSED, "{other}");
    }
    assert_eq!(dry(json!("true"), b"true"), UNFIT);
}

/// [PAR-13] [XH-07] no tool, no comparison; headers that no schema declares are ignored.
#[test]
fn nothing_to_compare() {
    let running = serve(server());
    let missing =
        Request::call("missing", json!({ "region": "eu" })).header("Mcp-Param-Region", "us");
    assert_eq!(running.send(&missing).error(), (200, -32602));
    let other = Request::call("tool", json!({ "region": "eu" })).header("Mcp-Param-Region", "us");
    assert_eq!(running.send(&other).text(), r#"{"region":"eu"}"#);
    assert_eq!(route(&running, json!({}), &[("Regions", b"us"), ("", b"x")]), SERVED);
}

/// [RPC-19] of two equal argument names the first counts, for the header and for the handler alike.
#[test]
fn repeated_arguments() {
    let running = serve(server());
    let call = |header: &str| {
        let request =
            Request::call("route", json!({ "region": "eu" })).header("Mcp-Param-Region", header);
        let twice = request
            .message
            .to_string()
            .replace(r#""region":"eu""#, r#""region":"eu","region":"us""#);
        running.send(&request.body(twice))
    };
    assert_eq!(call("eu").text(), r#"{"region":"eu"}"#);
    assert_eq!(call("us").error(), REFUSED);
}

/// [SEC-02] a mirrored value has a bound of 8 KiB.
#[test]
fn long_values() {
    let running = serve(server());
    let at_bound = "x".repeat(8 * 1024);
    let beyond = "x".repeat(8 * 1024 + 1);
    assert_eq!(
        route(&running, json!({ "region": at_bound }), &[("Region", at_bound.as_bytes())]),
        SERVED
    );
    assert_eq!(
        route(&running, json!({ "region": beyond }), &[("Region", beyond.as_bytes())]),
        REFUSED
    );
}
