//! URIs as resources use them: the RFC 3986 syntax check and RFC 6570 templates that parse, expand and
//! match. No I/O and no regular expression; every routine is linear in its input.
//!
//! Reading order: [`is_valid`] (syntax.rs), [`Template`] (template.rs), matching (shape.rs),
//! [`file_segments`] (file.rs).

mod file;
mod percent;
mod shape;
mod syntax;
mod template;

#[cfg(test)]
mod tests;

pub use file::{FileFault, file_segments};
pub use syntax::is_valid;
pub use template::{TEMPLATE_BYTES_MAX, Template, TemplateError, VARIABLES_MAX};

/// Longest URI that a template is matched against, in bytes (RES-10). Longer ones match nothing.
pub const URI_BYTES_MAX: usize = 8 * 1024;
