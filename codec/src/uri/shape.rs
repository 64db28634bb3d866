//! What a template matches, and the matcher. For a given template it is linear in the URI, without
//! backtracking, by these restrictions on a template, checked in [`Shape::of`]:
//!
//! - A URI splits into head, query and fragment where the template itself does (at `{?v}` or
//!   `{&v}`, and at the first `#`), so each part is matched alone.
//! - Inside a part, literals and captures alternate, and at most one capture is reserved (`{+v}`).
//!   What precedes the reserved capture is matched left to right, each capture as short as possible;
//!   what follows it right to left.
//!
//! Shortest-first finds a match whenever one exists: a capture cannot cross a delimiter, so if its
//! literal holds a delimiter only one place fits, and if it holds none, taking an earlier place only
//! lengthens the next capture by characters that it may hold.

use std::borrow::Cow;

use memchr::memmem;

use super::percent;
use super::template::{Operator, Piece, TemplateError};

/// The compiled form of a template.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Everything up to the query parameters or the fragment.
    head: Vec<Token>,
    query: Option<Query>,
    /// From `#` on, the sign included; empty when the template has none.
    fragment: Vec<Token>,
}

/// The tail that `{?v}` or `{&v}` describes.
#[derive(Debug, Clone)]
struct Query {
    /// What must follow the `?` before the parameters; empty for `{?v}`.
    fixed: String,
    /// The parameters' names, and their variables' indices.
    parameters: Vec<(String, usize)>,
}

#[derive(Debug, Clone)]
enum Token {
    Literal(String),
    /// A variable that stops at `/`, `?`, `#`, and in a literal query at `&` too.
    Simple {
        variable: usize,
        in_query: bool,
    },
    /// A variable that takes anything.
    Reserved {
        variable: usize,
    },
}

/// Values by variable index.
type Values<'a> = Vec<Option<Cow<'a, str>>>;

impl Shape {
    pub(super) fn of(pieces: &[Piece], names: &[String]) -> Result<Shape, TemplateError> {
        let mut builder = Builder::default();
        for piece in pieces {
            match piece {
                Piece::Literal(text) => builder.literal(text)?,
                Piece::Expression { operator, variables } => {
                    builder.expression(*operator, variables.clone(), names)?;
                }
            }
        }
        let shape = Shape { head: builder.head, query: builder.query, fragment: builder.fragment };
        check_captures(&shape.head)?;
        check_captures(&shape.fragment)?;
        Ok(shape)
    }

    pub(super) fn match_uri<'a>(&self, uri: &'a str, variables: usize) -> Option<Values<'a>> {
        let mut values: Values<'a> = vec![None; variables];
        let mut rest = uri;
        if !self.fragment.is_empty() {
            let sign = rest.find('#')?;
            match_part(&self.fragment, &rest[sign..], &mut values)?;
            rest = &rest[..sign];
        }
        if let Some(query) = &self.query {
            let (head, text) = match rest.split_once('?') {
                Some((head, text)) => (head, Some(text)),
                None => (rest, None),
            };
            query.read(text, &mut values)?;
            rest = head;
        }
        match_part(&self.head, rest, &mut values)?;
        Some(values)
    }
}

#[derive(Default)]
struct Builder {
    head: Vec<Token>,
    query: Option<Query>,
    fragment: Vec<Token>,
    /// A literal `?` was seen.
    in_query: bool,
}

impl Builder {
    fn literal(&mut self, text: &str) -> Result<(), TemplateError> {
        if !self.fragment.is_empty() {
            push_literal(&mut self.fragment, text);
            return Ok(());
        }
        let (before, fragment) = match text.find('#') {
            Some(sign) => text.split_at(sign),
            None => (text, ""),
        };
        if !before.is_empty() {
            if self.query.is_some() {
                return Err(TemplateError::Misplaced);
            }
            self.in_query |= before.contains('?');
            push_literal(&mut self.head, before);
        }
        push_literal(&mut self.fragment, fragment);
        Ok(())
    }

    fn expression(
        &mut self,
        operator: Operator,
        variables: std::ops::Range<usize>,
        names: &[String],
    ) -> Result<(), TemplateError> {
        if matches!(operator, Operator::Query | Operator::Continuation) {
            let query = self.open_query(operator)?;
            query.parameters.extend(variables.map(|index| (names[index].clone(), index)));
            return Ok(());
        }
        let fragment_open = !self.fragment.is_empty();
        let misplaced = match operator {
            Operator::Fragment => fragment_open,
            // Nothing but the fragment follows the query parameters.
            _ => self.query.is_some() && !fragment_open,
        };
        if misplaced {
            return Err(TemplateError::Misplaced);
        }
        let in_fragment = operator == Operator::Fragment || fragment_open;
        let in_query = self.in_query && !in_fragment;
        let part = if in_fragment { &mut self.fragment } else { &mut self.head };
        let mut lead = operator.first();
        for variable in variables {
            push_literal(part, lead);
            lead = operator.separator();
            if operator == Operator::Matrix {
                push_literal(part, &format!("{}=", names[variable]));
            }
            part.push(match operator {
                Operator::Reserved | Operator::Fragment => Token::Reserved { variable },
                _ => Token::Simple { variable, in_query },
            });
        }
        Ok(())
    }

    /// The query that `{?v}` starts, or that `{&v}` continues: an earlier `{?v}`, or a literal query
    /// without variables in it, which moves from the head into [`Query::fixed`].
    fn open_query(&mut self, operator: Operator) -> Result<&mut Query, TemplateError> {
        if !self.fragment.is_empty() {
            return Err(TemplateError::Misplaced);
        }
        let fixed = match (operator, &self.query) {
            (Operator::Continuation, None) => self.take_literal_query()?,
            (Operator::Continuation, Some(_)) => String::new(),
            (_, None) if !self.in_query => String::new(),
            _ => return Err(TemplateError::Misplaced),
        };
        Ok(self.query.get_or_insert(Query { fixed, parameters: Vec::new() }))
    }

    fn take_literal_query(&mut self) -> Result<String, TemplateError> {
        let Some(Token::Literal(mut last)) = self.head.pop() else {
            return Err(TemplateError::Misplaced);
        };
        let sign = last.find('?').ok_or(TemplateError::Misplaced)?;
        let fixed = last.split_off(sign + 1);
        last.truncate(sign);
        push_literal(&mut self.head, &last);
        let earlier_sign =
            |token: &Token| matches!(token, Token::Literal(text) if text.contains('?'));
        if fixed.is_empty() || self.head.iter().any(earlier_sign) {
            return Err(TemplateError::Misplaced);
        }
        Ok(fixed)
    }
}

impl Query {
    /// `text` is what follows the `?`, `None` if there is no `?`. Parameters come in any order, each at
    /// most once, none unknown; with none at all, `{?v}` leaves no `?` behind.
    fn read<'a>(&self, text: Option<&'a str>, values: &mut Values<'a>) -> Option<()> {
        let pairs = match text {
            None => return self.fixed.is_empty().then_some(()),
            Some(text) if self.fixed.is_empty() => text,
            Some(text) => match text.strip_prefix(self.fixed.as_str())? {
                "" => return Some(()),
                more => more.strip_prefix('&')?,
            },
        };
        for pair in pairs.split('&') {
            let (name, value) = pair.split_once('=')?;
            let (_, variable) = self.parameters.iter().find(|(known, _)| known == name)?;
            let slot = &mut values[*variable];
            if slot.is_some() || value.contains('#') {
                return None;
            }
            *slot = Some(percent::decode(value)?);
        }
        Some(())
    }
}

/// Matches a whole part.
fn match_part<'a>(tokens: &[Token], text: &'a str, values: &mut Values<'a>) -> Option<()> {
    let reserved = tokens.iter().enumerate().find_map(|(at, token)| match token {
        Token::Reserved { variable } => Some((at, *variable)),
        _ => None,
    });
    let Some((at, variable)) = reserved else {
        // Without a reserved capture the last literal stands at the very end: place it first.
        return match tokens.split_last() {
            None => text.is_empty().then_some(()),
            Some((Token::Literal(last), before)) if !before.is_empty() => {
                let rest = forward(before, text.strip_suffix(last.as_str())?, values)?;
                rest.is_empty().then_some(())
            }
            Some(_) => forward(tokens, text, values)?.is_empty().then_some(()),
        };
    };
    let rest = forward(&tokens[..at], text, values)?;
    let value = backward(&tokens[at + 1..], rest, values)?;
    bind(variable, value, &[], values)
}

/// Matches `tokens` from the left, each capture as short as possible; a final capture takes all that is
/// left. Gives the text behind the last token.
fn forward<'a>(tokens: &[Token], text: &'a str, values: &mut Values<'a>) -> Option<&'a str> {
    let mut rest = text;
    let mut open: Option<(usize, bool)> = None;
    for token in tokens {
        match token {
            Token::Literal(literal) => match open.take() {
                None => rest = rest.strip_prefix(literal.as_str())?,
                Some((variable, in_query)) => {
                    let end = find(rest.as_bytes(), literal.as_bytes())?;
                    bind(variable, rest.get(..end)?, stops(in_query), values)?;
                    rest = rest.get(end + literal.len()..)?;
                }
            },
            Token::Simple { variable, in_query } => open = Some((*variable, *in_query)),
            // match_part splits at the reserved capture.
            Token::Reserved { .. } => return None,
        }
    }
    if let Some((variable, in_query)) = open {
        bind(variable, rest, stops(in_query), values)?;
        rest = "";
    }
    Some(rest)
}

/// The mirror image: from the right, with a literal first in `tokens`. Gives the text before it.
fn backward<'a>(tokens: &[Token], text: &'a str, values: &mut Values<'a>) -> Option<&'a str> {
    let mut rest = text;
    let mut open: Option<(usize, bool)> = None;
    for token in tokens.iter().rev() {
        match token {
            Token::Literal(literal) => match open.take() {
                None => rest = rest.strip_suffix(literal.as_str())?,
                Some((variable, in_query)) => {
                    let start = rfind(rest.as_bytes(), literal.as_bytes())?;
                    bind(variable, rest.get(start + literal.len()..)?, stops(in_query), values)?;
                    rest = rest.get(..start)?;
                }
            },
            Token::Simple { variable, in_query } => open = Some((*variable, *in_query)),
            Token::Reserved { .. } => return None,
        }
    }
    Some(rest)
}

/// The first place of `literal` behind at least one byte and not inside a triplet: `2` is not in `%22`.
fn find(text: &[u8], literal: &[u8]) -> Option<usize> {
    let mut from = 1;
    loop {
        let at = from + memmem::find(text.get(from..)?, literal)?;
        if !splits_triplet(text, at) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// The last such place before at least one byte.
fn rfind(text: &[u8], literal: &[u8]) -> Option<usize> {
    let mut to = text.len().checked_sub(1)?;
    loop {
        let at = memmem::rfind(&text[..to], literal)?;
        if !splits_triplet(text, at) {
            return Some(at);
        }
        to = at + literal.len() - 1;
    }
}

fn splits_triplet(text: &[u8], at: usize) -> bool {
    text[at.saturating_sub(2)..at].contains(&b'%')
}

fn bind<'a>(variable: usize, raw: &'a str, stops: &[u8], values: &mut Values<'a>) -> Option<()> {
    if raw.is_empty() || raw.bytes().any(|byte| stops.contains(&byte)) {
        return None;
    }
    values[variable] = Some(percent::decode(raw)?);
    Some(())
}

fn stops(in_query: bool) -> &'static [u8] {
    if in_query { b"/?#&" } else { b"/?#" }
}

/// Merges with a preceding literal, so that literals and captures alternate.
fn push_literal(tokens: &mut Vec<Token>, text: &str) {
    match tokens.last_mut() {
        _ if text.is_empty() => {}
        Some(Token::Literal(last)) => last.push_str(text),
        _ => tokens.push(Token::Literal(text.to_owned())),
    }
}

fn check_captures(tokens: &[Token]) -> Result<(), TemplateError> {
    let capture = |token: &Token| !matches!(token, Token::Literal(_));
    let reserved = tokens.iter().filter(|token| matches!(token, Token::Reserved { .. })).count();
    let adjacent = tokens.windows(2).any(|pair| capture(&pair[0]) && capture(&pair[1]));
    if adjacent || reserved > 1 { Err(TemplateError::Ambiguous) } else { Ok(()) }
}
