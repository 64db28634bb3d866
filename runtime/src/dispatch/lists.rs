//! The four list methods: a page of text that the registry joined beforehand.

use codec::cursor::Scope;
use codec::error::RpcError;
use codec::types::CacheScope;
use codec::write;
use transport::mcp::ladder::Rung;
use transport::mcp::refusal::Refusal;

use super::{Admitted, Plan, Splice, bad};
use crate::handler::CacheHint;
use crate::registry::{Entry, Listing, ToolEntry};

/// A page this long, in bytes, is written from the registry's own memory; a shorter one is cheaper to copy.
const SHARED_BYTES_MIN: usize = 64 * 1024;

pub(super) fn tools<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    let tools = &request.snapshot.tools;
    if request.snapshot.scoped {
        return tools_for_caller(request, tools, body);
    }
    list(request, "tools", tools, body)
}

pub(super) fn prompts<'r>(request: &Admitted<'r>, body: &mut Vec<u8>) -> Result<Plan<'r>, Refusal> {
    list(request, "prompts", &request.snapshot.prompts, body)
}

pub(super) fn resources<'r>(
    request: &Admitted<'r>,
    body: &mut Vec<u8>,
) -> Result<Plan<'r>, Refusal> {
    list(request, "resources", &request.snapshot.resources, body)
}

pub(super) fn templates<'r>(
    request: &Admitted<'r>,
    body: &mut Vec<u8>,
) -> Result<Plan<'r>, Refusal> {
    list(request, "resourceTemplates", &request.snapshot.templates, body)
}

fn list<'r, E: Entry>(
    request: &Admitted<'r>,
    member: &str,
    listing: &Listing<E>,
    body: &mut Vec<u8>,
) -> Result<Plan<'r>, Refusal> {
    let after = after(request)?;
    let page = listing.page(after, request.app.page_size);
    write::key(body, member);
    body.push(b'[');
    let at = body.len();
    let long = page.json.len() >= SHARED_BYTES_MIN;
    let splice = long.then(|| listing.share(&page)).flatten().map(|text| Splice { at, text });
    if splice.is_none() {
        body.extend_from_slice(page.json.as_bytes());
    }
    body.push(b']');
    if let (Some(sequence), Some(last)) = (page.next, page.entries.last()) {
        next_cursor(request, sequence, last.key(), body);
    }
    let cache = request.app.cache.lists;
    Ok(splice.map_or(Plan::Ready(cache), |splice| Plan::Around(cache, splice)))
}

/// Tools that ask for scopes show only to callers who hold them; such a list is never shared (CCH-05, D-37).
fn tools_for_caller<'r>(
    request: &Admitted<'r>,
    tools: &Listing<ToolEntry>,
    body: &mut Vec<u8>,
) -> Result<Plan<'r>, Refusal> {
    let after = after(request)?;
    let page = tools.page_for(after, request.app.page_size, |tool| {
        tool.scopes.is_empty() || request.has_scopes(&tool.scopes)
    });
    write::key(body, "tools");
    body.push(b'[');
    for (at, tool) in page.entries.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(tool.json().as_bytes());
    }
    body.push(b']');
    if let (Some(sequence), Some(last)) = (page.next, page.entries.last()) {
        next_cursor(request, sequence, last.key(), body);
    }
    Ok(Plan::Ready(CacheHint { scope: Some(CacheScope::Private), ..request.app.cache.lists }))
}

/// Where the page begins. Rung 18 for the cursor's type, rung 20 for guards, rung 22 for its seal (PAG-03, PAG-06).
fn after(request: &Admitted<'_>) -> Result<Option<u64>, Refusal> {
    let cursor = match request.params().get("cursor") {
        None => None,
        Some(value) => {
            Some(value.as_str().ok_or_else(|| bad("params.cursor must be a string".to_owned()))?)
        }
    };
    request.pass_guards(None, None, &[])?;
    let Some(cursor) = cursor else { return Ok(None) };
    let position = request.app.cursors.open(&scope(request), cursor).ok();
    // PAG-06: whoever does not page has issued no cursor, whatever the keys verify.
    let position = position.filter(|_| request.app.page_size.is_some());
    let refused = || Refusal::at(Rung::Target, RpcError::invalid_params("Invalid cursor"));
    Ok(Some(position.ok_or_else(refused)?.sequence))
}

fn next_cursor(request: &Admitted<'_>, sequence: u64, key: &str, body: &mut Vec<u8>) {
    let cursor = request.app.cursors.seal(&scope(request), sequence, key);
    body.extend_from_slice(br#","nextCursor":"#);
    write::string(body, &cursor);
}

fn scope<'a>(request: &Admitted<'a>) -> Scope<'a> {
    Scope { method: request.request.method, principal: request.subject() }
}
