//! Several kinds of operations side by side, by weight.

use serde::Deserialize;

use crate::answer::Answer;
use crate::fault::Fault;

use super::{Ask, Desk, Name, Next, Op, Scenario};

/// Parts of a mix at most.
const PARTS_MAX: usize = 64;

/// The scenarios a part can be: those that share connections with others.
const MIXABLE: [Name; 7] = [
    Name::ToolsCall,
    Name::ToolsList,
    Name::Discover,
    Name::ResourcesRead,
    Name::Large,
    Name::Progress,
    Name::Mrtr,
];

/// The file of `--mix`.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    pub(crate) parts: Vec<MixPart>,
}

/// One part of it.
#[derive(Clone, Debug)]
pub(crate) struct MixPart {
    /// The name in reports.
    pub(crate) name: String,
    /// Its share of the operations, in relation to the other parts'.
    pub(crate) weight: u32,
    pub(crate) ask: Ask,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    part: Vec<FilePart>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FilePart {
    scenario: String,
    weight: u32,
    name: Option<String>,
    tool: Option<String>,
    args: Option<toml::Table>,
    uri: Option<String>,
    expect: Option<String>,
    body_bytes: Option<usize>,
    notifications: Option<u32>,
}

impl Mix {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong with it, and what is allowed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        if file.part.is_empty() || file.part.len() > PARTS_MAX {
            return Err(format!("a mix has 1 to {PARTS_MAX} [[part]] tables"));
        }
        let parts = file.part.into_iter().map(MixPart::new).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { parts })
    }
}

impl MixPart {
    fn new(part: FilePart) -> Result<Self, String> {
        let Some(name) = MIXABLE.into_iter().find(|name| name.as_str() == part.scenario) else {
            let known: Vec<_> = MIXABLE.iter().map(|name| name.as_str()).collect();
            let given = part.scenario;
            return Err(format!(
                "scenario {given:?} cannot be mixed; these can: {}",
                known.join(", ")
            ));
        };
        if part.weight == 0 {
            return Err("a weight is 1 or more".to_owned());
        }
        let args = part.args.map(serde_json::to_value).transpose().map_err(|e| e.to_string())?;
        let mut ask = Ask::new(name);
        ask.tool = part.tool.or(ask.tool);
        ask.args = args.or(ask.args);
        ask.uri = part.uri;
        ask.expected.text = part.expect;
        ask.body_bytes = part.body_bytes.unwrap_or(ask.body_bytes);
        ask.notifications = part.notifications;
        ask.check()?;
        let given = part.name.unwrap_or_else(|| match &ask.tool {
            Some(tool) => format!("{} {tool}", name.as_str()),
            None => name.as_str().to_owned(),
        });
        Ok(Self { name: given, weight: part.weight, ask })
    }
}

/// The parts, taken in turns so that any stretch of operations has them in their shares.
pub(super) struct Mixed {
    parts: Vec<Weighed>,
    total: i64,
}

struct Weighed {
    scenario: Box<dyn Scenario>,
    weight: i64,
    /// How much this part is owed.
    credit: i64,
}

impl Mixed {
    pub(super) fn new(parts: Vec<(u32, Box<dyn Scenario>)>) -> Self {
        let weigh = |(weight, scenario)| Weighed { scenario, weight: i64::from(weight), credit: 0 };
        let parts: Vec<_> = parts.into_iter().map(weigh).collect();
        Self { total: parts.iter().map(|part| part.weight).sum(), parts }
    }

    /// The part that is owed most.
    fn turn(&mut self) -> usize {
        self.parts.iter_mut().for_each(|part| part.credit += part.weight);
        let most = |best: usize, at: usize| {
            if self.parts[at].credit > self.parts[best].credit { at } else { best }
        };
        let chosen = (0..self.parts.len()).fold(0, most);
        self.parts[chosen].credit -= self.total;
        chosen
    }
}

impl Scenario for Mixed {
    fn begin(&mut self, op: &mut Op, out: &mut Vec<u8>) -> usize {
        op.sent.part = self.turn();
        self.parts[op.sent.part].scenario.begin(op, out)
    }

    fn settle(&mut self, op: &mut Op, answer: &Answer<'_>, desk: Desk<'_>) -> Result<Next, Fault> {
        self.parts[op.sent.part].scenario.settle(op, answer, desk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares hold over any stretch, not only in the long run.
    #[test]
    fn turns_are_even() {
        let script = "[[part]]\nscenario = 'tools-list'\nweight = 5\n[[part]]\nscenario = 'discover'\nweight = 1\n\
                      [[part]]\nscenario = 'tools-call'\nweight = 2\nargs = { text = 'x' }\nname = 'mine'\n";
        let mix = Mix::parse(script).expect("a mix");
        let names: Vec<_> = mix.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["tools-list", "discover", "mine"]);
        let url = "http://h/".parse().expect("a URL");
        let part = |part: &MixPart| (part.weight, super::super::build(&part.ask, &url, true));
        let mut mixed = Mixed::new(mix.parts.iter().map(part).collect());
        for _ in 0..3 {
            let mut counts = [0; 3];
            (0..8).for_each(|_| counts[mixed.turn()] += 1);
            assert_eq!(counts, [5, 1, 2]);
        }
    }

    /// A wrong file is told what is allowed.
    #[test]
    fn wrong_files() {
        for (text, said) in [
            ("part = []", "1 to 64"),
            ("[[part]]\nscenario = 'churn'\nweight = 1", "tools-call, tools-list"),
            ("[[part]]\nscenario = 'discover'\nweight = 0", "1 or more"),
            ("[[part]]\nscenario = 'discover'\nweight = 1\nx = 1", "unknown field"),
            ("[[part]]\nscenario = 'resources-read'\nweight = 1", "--uri"),
        ] {
            let error = Mix::parse(text).expect_err(text);
            assert!(error.contains(said), "{error}");
        }
    }
}
