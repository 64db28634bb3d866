//! A slow reference for the syntax: the grammar of RFC 3986 as a backtracking machine.

/// A rule of the URI grammar, matched by collecting every position where it can end.
pub(super) enum Rule {
    Class(fn(u8) -> bool),
    Text(&'static str),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Repeat(usize, usize, Box<Rule>),
}

impl Rule {
    pub(super) fn ends(&self, text: &[u8], start: usize) -> Vec<usize> {
        let mut ends = match self {
            Rule::Class(class) => match text.get(start) {
                Some(&byte) if class(byte) => vec![start + 1],
                _ => vec![],
            },
            Rule::Text(literal) => match text[start..].starts_with(literal.as_bytes()) {
                true => vec![start + literal.len()],
                false => vec![],
            },
            Rule::All(rules) => rules.iter().fold(vec![start], |starts, rule| {
                let mut ends: Vec<_> =
                    starts.into_iter().flat_map(|start| rule.ends(text, start)).collect();
                ends.sort_unstable();
                ends.dedup();
                ends
            }),
            Rule::Any(rules) => rules.iter().flat_map(|rule| rule.ends(text, start)).collect(),
            Rule::Repeat(least, most, rule) => {
                let (mut all, mut frontier) = (vec![], vec![start]);
                for round in 0..=*most {
                    if round >= *least {
                        all.extend(&frontier);
                    }
                    frontier = frontier
                        .into_iter()
                        .flat_map(|start| {
                            rule.ends(text, start).into_iter().filter(move |e| *e > start)
                        })
                        .collect();
                    frontier.sort_unstable();
                    frontier.dedup();
                    if frontier.is_empty() {
                        break;
                    }
                }
                all
            }
        };
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

/// RFC 3986 appendix A, transcribed.
pub(super) fn grammar() -> Rule {
    use Rule::{All, Any, Class, Text};
    let star = |rule| Rule::Repeat(0, usize::MAX, Box::new(rule));
    let times = |least, most, rule| Rule::Repeat(least, most, Box::new(rule));
    let maybe = |rule| Rule::Repeat(0, 1, Box::new(rule));
    let hex = || Class(|b| b.is_ascii_hexdigit());
    let digit = || Class(|b| b.is_ascii_digit());
    let pct = || All(vec![Text("%"), hex(), hex()]);
    let plain = || Class(|b| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&b));
    let pchar = || Any(vec![plain(), pct(), Text(":"), Text("@")]);
    let scheme = All(vec![
        Class(|b| b.is_ascii_alphabetic()),
        star(Class(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))),
    ]);
    let octet = || {
        Any(vec![
            digit(),
            All(vec![Class(|b| (b'1'..=b'9').contains(&b)), digit()]),
            All(vec![Text("1"), digit(), digit()]),
            All(vec![Text("2"), Class(|b| (b'0'..=b'4').contains(&b)), digit()]),
            All(vec![Text("25"), Class(|b| (b'0'..=b'5').contains(&b))]),
        ])
    };
    let v4 = || All(vec![octet(), Text("."), octet(), Text("."), octet(), Text("."), octet()]);
    let h16 = || times(1, 4, hex());
    let group = || All(vec![h16(), Text(":")]);
    let ls32 = || Any(vec![All(vec![group(), h16()]), v4()]);
    let before = |most: usize| maybe(All(vec![times(0, most, group()), h16()]));
    let v6 = Any(vec![
        All(vec![times(6, 6, group()), ls32()]),
        All(vec![Text("::"), times(5, 5, group()), ls32()]),
        All(vec![before(0), Text("::"), times(4, 4, group()), ls32()]),
        All(vec![before(1), Text("::"), times(3, 3, group()), ls32()]),
        All(vec![before(2), Text("::"), times(2, 2, group()), ls32()]),
        All(vec![before(3), Text("::"), group(), ls32()]),
        All(vec![before(4), Text("::"), ls32()]),
        All(vec![before(5), Text("::"), h16()]),
        All(vec![before(6), Text("::")]),
    ]);
    let future = All(vec![
        Any(vec![Text("v"), Text("V")]),
        times(1, usize::MAX, hex()),
        Text("."),
        times(1, usize::MAX, Any(vec![plain(), Text(":")])),
    ]);
    let host = Any(vec![
        All(vec![Text("["), Any(vec![v6, future]), Text("]")]),
        star(Any(vec![plain(), pct()])),
    ]);
    let authority = All(vec![
        maybe(All(vec![star(Any(vec![plain(), pct(), Text(":")])), Text("@")])),
        host,
        maybe(All(vec![Text(":"), star(digit())])),
    ]);
    let abempty = || star(All(vec![Text("/"), star(pchar())]));
    let rootless = || All(vec![times(1, usize::MAX, pchar()), abempty()]);
    let hierarchy = Any(vec![
        All(vec![Text("//"), authority, abempty()]),
        All(vec![Text("/"), maybe(rootless())]),
        rootless(),
        Text(""),
    ]);
    let tail = || star(Any(vec![pchar(), Text("/"), Text("?")]));
    All(vec![
        scheme,
        Text(":"),
        hierarchy,
        maybe(All(vec![Text("?"), tail()])),
        maybe(All(vec![Text("#"), tail()])),
    ])
}
