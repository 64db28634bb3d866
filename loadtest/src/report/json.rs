//! The report as a file, and back. `REPORT.md` documents it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::model::FORMAT;

/// A saved report is read whole; one with a second's figures for a day is some 10 MB.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Why a file could not be written or read as a report.
#[derive(Debug)]
pub(crate) enum FileError {
    Write(PathBuf, io::Error),
    Read(PathBuf, io::Error),
    TooLong(PathBuf),
    /// Not JSON, or no report; with what is wrong.
    NoReport(PathBuf, String),
    /// A report of another format.
    OtherFormat(PathBuf, Value),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::TooLong(path) => {
                write!(f, "{} is longer than a report ({FILE_BYTES_MAX} bytes)", path.display())
            }
            Self::NoReport(path, problem) => {
                write!(f, "{} holds no report of this program: {problem}", path.display())
            }
            Self::OtherFormat(path, format) => write!(
                f,
                "{} is a report of format {format}, and this version reads format {FORMAT}",
                path.display()
            ),
        }
    }
}

/// Writes a text beside everything else that is written: whole or with an error.
///
/// # Errors
/// [`FileError::Write`].
pub(crate) fn write(path: &Path, text: &str) -> Result<(), FileError> {
    fs::write(path, text).map_err(|error| FileError::Write(path.to_owned(), error))
}

/// Writes a report as indented JSON.
///
/// # Errors
/// [`FileError::Write`].
pub(crate) fn save(path: &Path, report: &impl Serialize) -> Result<(), FileError> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| FileError::Write(path.to_owned(), error.into()))?;
    write(path, &(text + "\n"))
}

/// Reads the JSON of any report, once its format is known to be this version's.
///
/// # Errors
/// Everything but [`FileError::Write`].
pub(crate) fn load(path: &Path) -> Result<Value, FileError> {
    let failed = |error| FileError::Read(path.to_owned(), error);
    if fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(FileError::TooLong(path.to_owned()));
    }
    let bytes = fs::read(path).map_err(failed)?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| FileError::NoReport(path.to_owned(), error.to_string()))?;
    match &value["format"] {
        Value::Null => Err(FileError::NoReport(path.to_owned(), "it names no format".into())),
        format if *format == FORMAT => Ok(value),
        format => Err(FileError::OtherFormat(path.to_owned(), format.clone())),
    }
}

/// Reads a loaded report as what it is.
///
/// # Errors
/// [`FileError::NoReport`].
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, value: Value) -> Result<T, FileError> {
    serde_json::from_value(value)
        .map_err(|error| FileError::NoReport(path.to_owned(), error.to_string()))
}
