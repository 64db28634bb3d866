//! What the futures and parts of a connection weigh, in bytes: ten thousand of them wait at once.

use super::super::kept::Kept;
use super::super::workspace::Workspace;
use super::super::{connection, serve};
use crate::handler::Outcome;
use crate::io::TcpLink;

fn future<A, B, C, F>(_: fn(A, B, C) -> F) -> usize {
    size_of::<F>()
}

fn borrowing<'a, A: 'a, B: 'a, F>(_: impl Fn(&'a A, &'a mut B) -> F) -> usize {
    size_of::<F>()
}

/// [SEC-06] whoever makes one of these larger makes every idle connection larger
#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<TcpLink>() <= 16, "{}", size_of::<TcpLink>());
    assert!(size_of::<Kept<TcpLink>>() <= 96, "{}", size_of::<Kept<TcpLink>>());
    assert!(future(serve::<TcpLink>) <= 304, "{}", future(serve::<TcpLink>));
}

/// [SEC-06] a request that waits for its handler holds these
#[test]
fn a_waiting_request_is_small() {
    assert!(size_of::<Workspace>() <= 432, "{}", size_of::<Workspace>());
    let requests = borrowing(connection::serve::<TcpLink>);
    assert!(requests <= 1792, "{requests}");
}

/// An outcome is moved through a dozen returns: what seldom goes with it is boxed, so that none of them is a copy by libc
#[test]
fn an_outcome_is_small() {
    assert!(size_of::<Outcome>() <= 64, "{}", size_of::<Outcome>());
}
