//! The figures of one run, for people and for programs.
//!
//! `gather` makes a [`Report`] of what was counted; every form is made of that: `text` (the summary), `json` (the
//! file and back), `html` (one page, drawn by `charts` and `svg`). `progress` shows a run while it goes on.

mod axis;
pub(crate) mod charts;
pub(crate) mod cli;
mod gather;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod latency;
pub(crate) mod machine;
pub(crate) mod model;
mod output;
pub(crate) mod progress;
pub(crate) mod series;
mod subscription;
pub(crate) mod svg;
mod text;
pub(crate) mod units;

pub(crate) use model::Report;
pub(crate) use output::{finish, show};
