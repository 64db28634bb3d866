//! `Content-Type` and `Content-Encoding` of a request (HTTP-15, HTTP-22), and the syntax of media types
//! and their parameters (RFC 9110, 5.6.6, 8.3.1) that `Accept` shares.

/// Whether the `Content-Type` lines say JSON in UTF-8: exactly one line, `application/json` in any
/// case, any well-formed parameters, and no `charset` but UTF-8.
pub fn is_json<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut values = values.into_iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let (name, mut parameters) = split(value);
    name.eq_ignore_ascii_case(b"application/json")
        && parameters.all(|parameter| match parameter {
            Ok((key, value)) => {
                !key.eq_ignore_ascii_case(b"charset")
                    || unquote(value).eq_ignore_ascii_case(b"utf-8")
            }
            Err(Malformed) => false,
        })
}

/// Whether the `Content-Encoding` lines, if any, leave the body as it is.
pub fn is_identity<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> bool {
    values
        .into_iter()
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

/// A parameter without `=`, without a name, or with an open quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Splits a media type or range from its parameters. Empty parameters (`a/b;`) are skipped.
pub(crate) fn split(value: &[u8]) -> (&[u8], Parameters<'_>) {
    let mut parts = Quoted { rest: Some(value), separator: b';' };
    let name = parts.next().unwrap_or_default().trim_ascii();
    (name, Parameters { parts })
}

/// Name and value of each parameter; quoted values keep their quotes.
pub(crate) struct Parameters<'a> {
    parts: Quoted<'a>,
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Result<(&'a [u8], &'a [u8]), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.parts.by_ref().map(<[u8]>::trim_ascii).find(|part| !part.is_empty())?;
        Some(parameter(part).ok_or(Malformed))
    }
}

/// Splits a list at its commas, not at those inside quotation marks.
pub(crate) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    Quoted { rest: Some(value), separator: b',' }.map(<[u8]>::trim_ascii)
}

/// The text of a value in quotation marks; other values as they are. Escapes stay: nothing we compare
/// with needs one.
pub(crate) fn unquote(value: &[u8]) -> &[u8] {
    match value {
        [b'"', text @ .., b'"'] => text,
        _ => value,
    }
}

fn parameter(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = memchr::memchr(b'=', part)?;
    let (name, value) = (&part[..equals], &part[equals + 1..]);
    let quoted = value.first() == Some(&b'"');
    let well_formed = if quoted { closes_at_end(value) } else { is_token(value) };
    (is_token(name) && well_formed).then_some((name, value))
}

/// Whether the quotation that opens `value` closes with its last byte.
fn closes_at_end(value: &[u8]) -> bool {
    let mut at = 1;
    while let Some(byte) = value.get(at) {
        match byte {
            b'"' => return at + 1 == value.len(),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    false
}

fn is_token(text: &[u8]) -> bool {
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(legal)
}

/// Splits at a separator outside quotation marks; an open quotation runs to the end.
struct Quoted<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Iterator for Quoted<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.rest?;
        let (mut at, mut quoted) = (0, false);
        while let Some(byte) = text.get(at) {
            match byte {
                b'"' => quoted = !quoted,
                b'\\' if quoted => at += 1,
                byte if *byte == self.separator && !quoted => {
                    self.rest = Some(&text[at + 1..]);
                    return Some(&text[..at]);
                }
                _ => {}
            }
            at += 1;
        }
        self.rest = None;
        Some(text)
    }
}

#[cfg(test)]
mod tests;
