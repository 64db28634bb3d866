//! Open files: enough for every stream, on both sides, before the first is opened.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::proc::Process;

/// Files this program has open besides its streams: the driver's, the publisher's, standard ones.
const OWN_FILES: u64 = 64;

/// Sees to it that this process may open `streams` sockets: raises its soft limit where the hard one allows it.
///
/// # Errors
/// What the limit is, and what to do about it.
pub(crate) fn provide(streams: u64) -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let needed = streams.saturating_add(OWN_FILES);
    if limit.current.is_none_or(|soft| soft >= needed) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
    if limit.maximum.is_none_or(|hard| hard >= needed)
        && setrlimit(Resource::Nofile, raised).is_ok()
    {
        return Ok(());
    }
    let most = limit.maximum.or(limit.current).unwrap_or(needed);
    Err(format!(
        "{streams} streams need {needed} open files, and this process may have {most}: raise the limit (as root: \
         `ulimit -n {needed}`, then start this program from that shell; for good: nofile in \
         /etc/security/limits.conf, or LimitNOFILE= of the unit), or ask for --streams {} at most",
        most.saturating_sub(OWN_FILES),
    ))
}

/// Holds the target's limit against `streams` more sockets.
///
/// # Errors
/// What the limit is, and what to do about it.
pub(crate) fn check_target(target: &Process, streams: u64) -> Result<(), String> {
    let Some(most) = target.files_max() else { return Ok(()) };
    let open = target.usage().ok().and_then(|usage| usage.files).unwrap_or(0);
    let needed = open.saturating_add(streams);
    if most >= needed {
        return Ok(());
    }
    Err(format!(
        "{streams} streams need {needed} open files in the target (it has {open} open), and it may have {most}: start \
         it under `ulimit -n {needed}`, or ask for --streams {} at most",
        most.saturating_sub(open),
    ))
}
