//! Resources (LEDGER 9): what is listed of them (listed.rs), what they hold (contents.rs), and how that is read (read.rs).

mod contents;
mod listed;
mod read;

pub use contents::{BlobResourceContents, ResourceContents, TextResourceContents};
pub use listed::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};
pub use read::{ReadResourceParams, ReadResourceResult};
