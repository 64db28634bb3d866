//! Resources and templates: lists, reads, and URIs that name nothing.

use base64::Engine as _;
use ringmcp::types::{Annotations, Resource, ResourceContents, ResourceTemplate};
use ringmcp::{Builder, Context, HandlerError};
use serde_json::{Value, json};

use crate::common::{Free, Runs, ask, names, once, server};
use crate::support::{Answer, Request, serve};

#[derive(serde::Deserialize)]
struct Id {
    id: String,
}

fn read(uri: &str) -> Request {
    Request::new("resources/read", json!({ "uri": uri }))
}

fn library(runs: Runs) -> Builder {
    let counted = runs.clone();
    server()
        .resource(
            Resource::new("test://text", "text").mime_type("text/plain"),
            async |_: &Context| Ok::<_, HandlerError>("A text."),
        )
        .resource(
            Resource::new("test://bytes", "bytes").mime_type("image/png"),
            async |_: &Context| Ok::<_, HandlerError>((0..=255).collect::<Vec<u8>>()),
        )
        .resource(Resource::new("test://folder", "folder"), async |_: &Context| {
            Ok::<_, HandlerError>(vec![
                ResourceContents::text("test://folder/a", "A"),
                ResourceContents::blob("test://folder/b", [1, 2])
                    .mime_type("application/octet-stream"),
            ])
        })
        .resource(Resource::new("test://item/exact", "exact"), async |_: &Context| {
            Ok::<_, HandlerError>("exact")
        })
        .resource_template(
            ResourceTemplate::new("test://item/{id}", "item"),
            async move |_: &Context, Id { id }: Id| {
                counted.add();
                Ok::<_, HandlerError>(format!("item {id}"))
            },
        )
        .resource_template(
            ResourceTemplate::new("test://{kind}/{id}", "any"),
            async |ctx: &Context, _: Free| {
                let seen: Vec<String> =
                    ctx.variables().iter().map(|(name, value)| format!("{name}={value}")).collect();
                Ok::<_, HandlerError>(seen.join(","))
            },
        )
        .resource_template(
            ResourceTemplate::new("deep://{+path}", "deep"),
            async |_: &Context, all: Free| {
                Ok::<_, HandlerError>(format!("deep {}", all["path"].as_str().expect("a string")))
            },
        )
}

fn text_of(answer: &Answer) -> String {
    let result = answer.result("resources/read");
    result["contents"][0]["text"].as_str().expect("a text").to_owned()
}

/// [RES-02] [RES-03] every field of the definitions; templates are not mixed into the list.
#[test]
fn definitions_reach_the_lists_whole() {
    let hints = Annotations::new().priority(1).expect("in range");
    let resource = Resource::new("test://r", "r")
        .title("R")
        .description("About r")
        .mime_type("text/plain")
        .size(7)
        .annotations(hints.clone());
    let template = ResourceTemplate::new("test://t/{id}", "t")
        .title("T")
        .description("About t")
        .mime_type("application/json")
        .annotations(hints);
    let builder = server()
        .resource(resource, async |_: &Context| Ok::<_, HandlerError>(""))
        .resource_template(template, async |_: &Context, _: Free| Ok::<_, HandlerError>(""));
    let server = serve(builder);
    let resources = server.send(&ask("resources/list")).result("resources/list");
    assert_eq!(
        resources["resources"],
        json!([{ "uri": "test://r", "name": "r", "title": "R", "description": "About r",
            "mimeType": "text/plain", "annotations": { "priority": 1 }, "size": 7 }])
    );
    let templates =
        server.send(&ask("resources/templates/list")).result("resources/templates/list");
    assert_eq!(
        templates["resourceTemplates"],
        json!([{ "uriTemplate": "test://t/{id}", "name": "t", "title": "T", "description": "About t",
            "mimeType": "application/json", "annotations": { "priority": 1 } }])
    );
}

/// [RES-01] [RES-02] [RES-03] lists are in registration order.
#[test]
fn lists_are_in_order() {
    let server = serve(library(Runs::default()));
    let list = server.send(&ask("resources/list")).result("resources/list");
    assert_eq!(
        names(&list["resources"], "uri"),
        ["test://text", "test://bytes", "test://folder", "test://item/exact"]
    );
    let list = server.send(&ask("resources/templates/list")).result("resources/templates/list");
    assert_eq!(
        names(&list["resourceTemplates"], "uriTemplate"),
        ["test://item/{id}", "test://{kind}/{id}", "deep://{+path}"]
    );
}

/// [RES-04] [RES-13] text, bytes and several items; each has a URI and either text or a blob.
#[test]
fn reads() {
    let server = serve(library(Runs::default()));
    let contents = |uri: &str| server.send(&read(uri)).result("resources/read")["contents"].clone();
    assert_eq!(
        contents("test://text"),
        json!([{ "uri": "test://text", "text": "A text.", "mimeType": "text/plain" }])
    );
    let bytes = contents("test://bytes");
    assert_eq!(bytes[0]["mimeType"], "image/png");
    assert_eq!(bytes[0].get("text"), None);
    let blob = bytes[0]["blob"].as_str().expect("Base64");
    let decoded =
        base64::engine::general_purpose::STANDARD.decode(blob).expect("strict, padded Base64");
    assert_eq!(decoded, (0..=255).collect::<Vec<u8>>());
    let folder = contents("test://folder");
    assert_eq!(names(&folder, "uri"), ["test://folder/a", "test://folder/b"]);
    assert_eq!(
        folder[1],
        json!({ "uri": "test://folder/b", "blob": "AQI=", "mimeType": "application/octet-stream" })
    );
}

/// [RES-05] [RES-06] [RES-08] [ERR-02] what names nothing is `-32602` with the URI, never empty contents.
#[test]
fn what_names_nothing() {
    let server = serve(library(Runs::default()));
    for uri in [
        "test://nonexistent",
        "TEST://text",
        "test://text/",
        "other://text",
        "not a uri",
        "",
        "test://a\0b",
        "test://item/ü",
        "test://item/%zz",
        "test://item/a b",
        "//text",
    ] {
        // The name header cannot hold all of these: it is sent encoded where it must be.
        let header = codec::header::encode(uri).into_owned();
        let answer = server.send(&read(uri).header("Mcp-Name", &header));
        assert_eq!(answer.error(), (200, -32602), "{uri:?}");
        assert_eq!(answer.error_object()["data"], json!({ "uri": uri }));
    }
}

/// [RES-04] [CALL-01] malformed params are told from URIs that name nothing.
#[test]
fn malformed_reads() {
    let server = serve(library(Runs::default()));
    for request in [
        read("test://text").param("inputResponses", json!([])),
        read("test://text").param("requestState", json!({})),
    ] {
        let answer = server.send(&request);
        assert_eq!(answer.error(), (200, -32602));
        assert_eq!(answer.error_object().get("data"), None);
    }
}

/// [RES-10] exact before template, templates in order, variables decoded once and never across a slash.
#[test]
fn templates_match_as_they_say() {
    let server = serve(library(Runs::default()));
    let text = |uri: &str| text_of(&server.send(&read(uri)));
    assert_eq!(text("test://item/exact"), "exact");
    assert_eq!(text("test://item/123"), "item 123");
    assert_eq!(text("test://item/a%20b"), "item a b");
    assert_eq!(text("test://item/a%2Fb"), "item a/b");
    assert_eq!(text("test://item/%252F"), "item %2F", "decoded once");
    assert_eq!(text("test://item/%C3%BC"), "item ü");
    assert_eq!(text("test://other/7"), "kind=other,id=7");
    assert_eq!(text("deep://a/b/c"), "deep a/b/c");
    assert_eq!(server.send(&read("test://item/a/b")).error(), (200, -32602));
    let contents = server.send(&read("test://item/1")).result("resources/read");
    assert_eq!(contents["contents"][0]["uri"], "test://item/1", "what was read, not the template");
}

/// [RES-09] [RES-10] what decodes to no text or to a control character is no match or just text; nothing breaks.
#[test]
fn hostile_variables() {
    let runs = Runs::default();
    let server = serve(library(runs.clone()));
    for uri in [
        "test://item/%FF",
        "test://item/%C3",
        "test://item/%00",
        "test://item/..%2f..%2fetc",
        "test://item/%2e%2e",
    ] {
        let answer = server.send(&read(uri));
        assert_eq!(answer.status, 200, "{uri}");
        assert!(
            answer.message().get("result").is_some() || answer.error() == (200, -32602),
            "{uri}"
        );
    }
    let invalid = server.send(&read("test://item/%FF"));
    assert_eq!(invalid.error(), (200, -32602), "no UTF-8");
}

/// [RES-10] [SEC-13] a long URI ends in an error, quickly, and is not repeated whole in the message.
#[test]
fn long_uris_end() {
    let runs = Runs::default();
    let server = serve(library(runs.clone()));
    let uri = format!("test://item/{}", "a".repeat(20_000));
    let answer = server.send(&read(&uri));
    assert_eq!(answer.error(), (200, -32602));
    let message = answer.error_object()["message"].as_str().expect("a text").len();
    assert!(message < 300, "{message} bytes");
    assert_eq!(runs.count(), 0);
}

/// [RES-07] [RES-05] [ERR-10] [ERR-11] failures of a reader by their class.
#[test]
fn failing_readers() {
    let uri = |name: &str| Resource::new(format!("test://{name}"), name);
    let builder = server()
        .resource(uri("io"), async |_: &Context| std::fs::read_to_string("/secret/path"))
        .resource(uri("gone"), async |_: &Context| Err::<String, _>(HandlerError::not_found()))
        .resource(uri("panics"), async |ctx: &Context| {
            assert!(ctx.uri().is_empty(), "secret detail");
            Ok::<_, HandlerError>("")
        })
        .resource_template(
            ResourceTemplate::new("num://{n}", "n"),
            async |_: &Context, all: Free| {
                let number: u32 = all["n"]
                    .as_str()
                    .unwrap_or_default()
                    .parse()
                    .map_err(|_| HandlerError::not_found())?;
                Ok::<_, HandlerError>(number.to_string())
            },
        );
    let server = serve(builder);
    let internal = json!({ "code": -32603, "message": "Internal error" });
    assert_eq!(server.send(&read("test://io")).error_object(), internal);
    assert_eq!(server.send(&read("test://panics")).error_object(), internal);
    let gone = server.send(&read("test://gone"));
    assert_eq!(gone.error(), (200, -32602));
    assert_eq!(gone.error_object()["data"], json!({ "uri": "test://gone" }));
    assert_eq!(text_of(&server.send(&read("num://7"))), "7");
    assert_eq!(server.send(&read("num://x")).error_object()["data"], json!({ "uri": "num://x" }));
}

/// [RES-16] [LOG-08] methods of older revisions are unknown.
#[test]
fn removed_methods_are_unknown() {
    let server = serve(library(Runs::default()));
    for method in
        ["resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping", "initialize"]
    {
        let answer =
            server.send(&Request::new(method, json!({ "uri": "test://text", "level": "info" })));
        assert_eq!(answer.error(), (404, -32601), "{method}");
    }
}

/// [RES-12] [CALL-13] access is asked before the read, by a guard that knows URI and caller.
#[test]
fn access_is_checked_before_the_read() {
    let runs = Runs::default();
    let ran = runs.clone();
    let builder = crate::common::with_callers(server())
        .resource(Resource::new("test://secret", "secret"), async move |_: &Context| {
            ran.add();
            Ok::<_, HandlerError>("secret")
        })
        .guard(|seen| match (seen.name, seen.principal.map(|principal| &*principal.subject)) {
            (Some("test://secret"), Some("ann")) => Ok(()),
            (Some("test://secret"), _) => Err(ringmcp::Denied::forbidden("Not yours")),
            _ => Ok(()),
        });
    let server = serve(builder);
    let request = |who: &str| crate::common::by(who, read("test://secret"));
    assert_eq!(crate::common::denial(&server.send(&request("bob"))), (403, "access_denied".into()));
    assert_eq!(runs.count(), 0);
    assert_eq!(text_of(&server.send(&request("ann"))), "secret");
}

/// [RES-14] [SUB-08] updates and list changes reach those that listen.
#[test]
fn news_of_resources() {
    let server = serve(library(Runs::default()));
    let filter = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["test://text"] });
    let mut events = server.stream(&Request::listen(filter));
    events.message();
    server.handle().notifier().resource_updated("test://bytes");
    server.handle().notifier().resource_updated("test://text");
    let news: Value = events.message();
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["uri"], "test://text");
    server.handle().registrations().remove_resource("test://bytes").expect("it is there");
    assert_eq!(events.message()["method"], "notifications/resources/list_changed");
}

/// [RES-03] a server with nothing but templates still lists resources.
#[test]
fn templates_alone() {
    let builder = server()
        .resource_template(ResourceTemplate::new("a://{b}", "t"), async |_: &Context, _: Free| {
            Ok::<_, HandlerError>("")
        });
    let list = once(builder, &ask("resources/list")).result("resources/list");
    assert_eq!(list["resources"], json!([]));
}
