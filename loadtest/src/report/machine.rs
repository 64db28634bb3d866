//! What the generator ran on. A figure without its machine says little.

use std::fs;

use serde::{Deserialize, Serialize};

/// The machine, without anything that names its owner.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Machine {
    /// The distribution's name of itself.
    pub(crate) os: String,
    pub(crate) kernel: String,
    /// The instruction set.
    pub(crate) architecture: String,
    pub(crate) cpu: String,
    /// Logical cores this process may run on.
    pub(crate) cores: u64,
    pub(crate) memory_bytes: Option<u64>,
}

impl Machine {
    /// This one; what cannot be read is `unknown`.
    pub(crate) fn here() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let unknown = || "unknown".to_owned();
        let named = |text: &str, name, separator| value(text, name, separator).map(str::to_owned);
        let kilobytes = value(&read("/proc/meminfo"), "MemTotal", ':')
            .and_then(|kb| kb.trim_end_matches("kB").trim().parse::<u64>().ok());
        Self {
            os: named(&read("/etc/os-release"), "PRETTY_NAME", '=')
                .unwrap_or_else(|| std::env::consts::OS.to_owned()),
            kernel: Some(read("/proc/sys/kernel/osrelease").trim().to_owned())
                .filter(|kernel| !kernel.is_empty())
                .unwrap_or_else(unknown),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu: named(&read("/proc/cpuinfo"), "model name", ':').unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64),
            memory_bytes: kilobytes.map(|kb| kb.saturating_mul(1024)),
        }
    }
}

/// The value of the first line `name SEPARATOR value`, without quotes.
fn value<'a>(text: &'a str, name: &str, separator: char) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = lines.find(|(found, _)| found.trim() == name)?;
    Some(value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of procfs and os-release, among others and with their quotes.
    #[test]
    fn values() {
        let cpu = "processor\t: 0\nmodel name\t: A: B 3\nmodel name\t: C\n";
        assert_eq!(value(cpu, "model name", ':'), Some("A: B 3"));
        assert_eq!(
            value("NAME=\"x\"\nPRETTY_NAME=\"Some OS 1\"\n", "PRETTY_NAME", '='),
            Some("Some OS 1")
        );
        assert_eq!(value("", "MemTotal", ':'), None);
        assert!(Machine::here().cores > 0);
    }
}
