//! A response written piece by piece: its start, the members of its result, its end.
//!
//! Every writer of members leaves a comma behind the last one only if it knows that more follows; [`end`] tidies up.

use codec::id::Id;
use codec::types::CacheScope;
use codec::write;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::handler::CacheHint;

/// Starts a result: everything before its own members.
pub(crate) fn begin(body: &mut Vec<u8>, id: &Id<'_>, result_type: &str) {
    body.clear();
    write::response_start(body, id);
    body.extend_from_slice(br#"{"resultType":""#);
    body.extend_from_slice(result_type.as_bytes());
    body.extend_from_slice(br#"","#);
}

/// Ends a result: caching hints for the methods that carry them, `_meta`, and the closing braces.
pub(crate) fn end(
    body: &mut Vec<u8>,
    app: &App,
    cache: Option<CacheHint>,
    meta: Option<&Map<String, Value>>,
) {
    if body.last() == Some(&b',') {
        body.pop();
    }
    if let Some(hint) = cache {
        body.extend_from_slice(br#","ttlMs":"#);
        write::uint(body, hint.ttl_ms.unwrap_or(0));
        body.extend_from_slice(br#","cacheScope":""#);
        body.extend_from_slice(hint.scope.unwrap_or(CacheScope::Private).as_str().as_bytes());
        body.push(b'"');
    }
    end_meta(body, app, meta);
    body.push(b'}');
    write::end(body);
}

/// The server's name joins what the handler set; the handler's own value wins (ENV-09, ENV-10).
fn end_meta(body: &mut Vec<u8>, app: &App, meta: Option<&Map<String, Value>>) {
    let named = meta.is_some_and(|meta| meta.contains_key(codec::meta::SERVER_INFO_KEY));
    let stamp = app.stamp_info && !named;
    if !stamp && meta.is_none_or(Map::is_empty) {
        return;
    }
    body.extend_from_slice(br#","_meta":{"#);
    for (key, value) in meta.into_iter().flatten() {
        write::key(body, key);
        write::serialize(body, value);
        body.push(b',');
    }
    if stamp {
        body.extend_from_slice(app.info_member.as_bytes());
    } else {
        body.pop();
    }
    body.push(b'}');
}

/// Writes the members of a struct or map that serialises as an object, without its braces. The byte before must be
/// a brace or a comma. Writes nothing for something that cannot be serialised.
pub(crate) fn members<T: Serialize + ?Sized>(body: &mut Vec<u8>, object: &T) -> bool {
    let Some(before) = body.pop() else { return false };
    let start = body.len();
    let whole = write::serialize(body, object) && body.get(start) == Some(&b'{');
    if !whole || body.len() == start + 2 {
        body.truncate(start);
        body.push(before);
        return whole;
    }
    body[start] = before;
    body.pop();
    true
}

/// The members of a tool result of one text block.
pub(crate) fn text_result(body: &mut Vec<u8>, text: &str, is_error: bool) {
    body.extend_from_slice(br#""content":[{"type":"text","text":"#);
    write::string(body, text);
    body.extend_from_slice(if is_error { br#"}],"isError":true"# } else { b"}]" });
}
