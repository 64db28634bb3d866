//! Flags: a command, then pairs of a name and a value.

use std::str::FromStr;

use crate::Outcome;

pub struct Args(Vec<String>);

impl Args {
    pub fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    pub fn command(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|arg| arg == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    /// The number after the flag, or `default`.
    pub fn number<N: FromStr>(&self, name: &str, default: N) -> Outcome<N> {
        match self.text(name) {
            Some(text) => {
                text.parse().map_err(|_| format!("{name} needs a number, not {text:?}").into())
            }
            None => Ok(default),
        }
    }

    pub fn needed<N: FromStr>(&self, name: &str) -> Outcome<N> {
        let text = self.text(name).ok_or_else(|| format!("{name} is missing"))?;
        text.parse().map_err(|_| format!("{name}: {text:?} does not do").into())
    }
}
