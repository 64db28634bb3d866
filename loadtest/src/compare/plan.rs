//! What is compared: the targets of the command line and of the TOML file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::cli::{CompareArgs, target_name};
use crate::cli::time;
use crate::url::Url;

/// How long a started server may take until it accepts connections, unless the file says otherwise.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Everything that is to be compared. At least one target, each with a name of its own.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) targets: Vec<Target>,
    /// Cores of this program; empty: as it was started.
    pub(crate) generator_cores: Vec<usize>,
}

/// A server of the comparison.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) url: Url,
    /// How it is started and stopped; `None` for one that runs already.
    pub(crate) start: Option<Start>,
    /// The process of one that runs already.
    pub(crate) pid: Option<u32>,
    /// Its own warm-up.
    pub(crate) warmup: Option<Duration>,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) dir: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    /// Empty: any.
    pub(crate) cores: Vec<usize>,
    pub(crate) ready_within: Duration,
}

impl Start {
    /// The command line.
    pub(crate) fn words(&self) -> Vec<String> {
        std::iter::once(self.program.clone()).chain(self.arguments.iter().cloned()).collect()
    }
}

/// Why there is no plan.
#[derive(Debug)]
pub(crate) enum PlanError {
    Read(PathBuf, io::Error),
    /// With the place in the file.
    Toml(PathBuf, Box<toml::de::Error>),
    Target {
        name: String,
        problem: String,
    },
    Twice(String),
    /// `--target-pid` of a name that is no `--target`.
    NoSuchTarget(String),
    Nothing(PathBuf),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Toml(path, error) => write!(f, "{} cannot be used: {error}", path.display()),
            Self::Target { name, problem } => write!(f, "target {name:?}: {problem}"),
            Self::Twice(name) => write!(f, "there are two targets called {name:?}"),
            Self::NoSuchTarget(name) => {
                write!(f, "--target-pid names {name:?}, which is no --target")
            }
            Self::Nothing(path) => write!(f, "{} has no [[target]]", path.display()),
        }
    }
}

/// The TOML file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    generator: Generator,
    #[serde(default)]
    target: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generator {
    #[serde(default)]
    cores: Vec<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    url: String,
    start: Option<Vec<String>>,
    pid: Option<u32>,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    cores: Vec<usize>,
    ready_within: Option<String>,
    warmup: Option<String>,
}

impl Plan {
    /// Reads the targets file, if there is one, and adds the targets of the command line.
    ///
    /// # Errors
    /// What is wrong with which target.
    pub(crate) fn new(args: &CompareArgs) -> Result<Self, PlanError> {
        let mut plan = Self { targets: Vec::new(), generator_cores: Vec::new() };
        for (name, url) in &args.targets {
            let pid = args.target_pids.iter().find(|(of, _)| of == name).map(|(_, pid)| *pid);
            let (name, url) = (name.clone(), url.clone());
            plan.targets.push(Target { name, url, start: None, pid, warmup: None });
        }
        let known = |name: &String| args.targets.iter().any(|(target, _)| target == name);
        if let Some((stray, _)) = args.target_pids.iter().find(|(name, _)| !known(name)) {
            return Err(PlanError::NoSuchTarget(stray.clone()));
        }
        if let Some(path) = &args.targets_file {
            let text = fs::read_to_string(path).map_err(|e| PlanError::Read(path.clone(), e))?;
            let file: File =
                toml::from_str(&text).map_err(|e| PlanError::Toml(path.clone(), Box::new(e)))?;
            if file.target.is_empty() {
                return Err(PlanError::Nothing(path.clone()));
            }
            plan.generator_cores = file.generator.cores;
            for entry in file.target {
                plan.targets.push(entry.read()?);
            }
        }
        for (index, target) in plan.targets.iter().enumerate() {
            if plan.targets[..index].iter().any(|earlier| earlier.name == target.name) {
                return Err(PlanError::Twice(target.name.clone()));
            }
        }
        Ok(plan)
    }
}

impl Entry {
    fn read(self) -> Result<Target, PlanError> {
        let name = self.name.clone();
        self.parse().map_err(|problem| PlanError::Target { name, problem })
    }

    fn parse(self) -> Result<Target, String> {
        let duration = |text: &Option<String>| text.as_deref().map(time).transpose();
        let warmup = duration(&self.warmup).map_err(|e| format!("warmup: {e}"))?;
        let ready = duration(&self.ready_within).map_err(|e| format!("ready_within: {e}"))?;
        let start = match self.start {
            Some(_) if self.pid.is_some() => {
                return Err(
                    "start and pid exclude each other: a started server's process is known".into(),
                );
            }
            Some(words) => {
                let mut words = words.into_iter();
                let program =
                    words.next().ok_or("start is empty; it is [\"PROGRAM\", \"ARGUMENT\", …]")?;
                Some(Start {
                    program,
                    arguments: words.collect(),
                    dir: self.dir,
                    env: self.env,
                    cores: self.cores,
                    ready_within: ready.unwrap_or(READY_WITHIN),
                })
            }
            None if !self.cores.is_empty()
                || self.dir.is_some()
                || !self.env.is_empty()
                || ready.is_some() =>
            {
                return Err(
                    "cores, dir, env and ready_within are for a server that is started: say start"
                        .into(),
                );
            }
            None => None,
        };
        let url = self.url.parse().map_err(|e| format!("url: {e}"))?;
        Ok(Target { name: target_name(&self.name)?, url, start, pid: self.pid, warmup })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Target>, String> {
        let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        file.target.into_iter().map(|t| t.read().map_err(|e| e.to_string())).collect()
    }

    /// Every member of a target is read; what contradicts itself or is misspelt is named.
    #[test]
    fn targets() {
        let all = "generator = { cores = [1] }\n[[target]]\nname = 'a'\nurl = 'http://h/'\nstart = ['p', 'x y']\n\
                   dir = '/'\nenv = { A = 'b' }\ncores = [0, 2]\nready_within = '500ms'\nwarmup = '2s'\n";
        let target = parse(all).unwrap().remove(0);
        let start = target.start.unwrap();
        assert_eq!((start.words(), start.cores), (vec!["p".into(), "x y".into()], vec![0, 2]));
        assert_eq!(start.ready_within, Duration::from_millis(500));
        assert_eq!(target.warmup, Some(Duration::from_secs(2)));
        let target = "[[target]]\nname = 'a'\nurl = 'http://h/'\n";
        for (more, told) in [
            ("start = []", "PROGRAM"),
            ("pid = 1\nstart = ['x']", "exclude"),
            ("cores = [1]", "say start"),
            ("warmup = '1h'", "warmup: use a number"),
            ("colour = 1", "colour"),
        ] {
            let error = parse(&format!("{target}{more}")).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        assert!(parse("[[target]]\nname = 'a b'\nurl = 'http://h/'").unwrap_err().contains("A-Z"));
        assert!(
            parse("[[target]]\nname = 'a'\nurl = 'https://h/'").unwrap_err().contains("http://")
        );
    }
}
