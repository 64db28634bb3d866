//! What serving a request takes beside its bytes: lent by the core to whoever has a request, one to each, so that a
//! connection without one holds none of it.

use std::cell::RefCell;
use std::rc::Rc;

use codec::document::Document;
use transport::http::Machine;

use crate::app::App;
use crate::context::Emitter;
use crate::engine::core::Core;
use crate::engine::deadline::Deadline;
use crate::engine::wake::TaskWaker;

/// Workspaces that a core keeps for the next request. Most requests are answered at once, one after the other, out of
/// the same one; only handlers that wait hold theirs at the same time.
pub(super) const KEPT_MAX: usize = 32;

/// A kept workspace's body has at most this capacity, in bytes.
pub(super) const BODY_KEPT_BYTES_MAX: usize = 64 * 1024;

/// Reused from request to request, of whichever connection.
pub(super) struct Workspace {
    pub(super) machine: Machine,
    /// The JSON of the answer under way.
    pub(super) body: Vec<u8>,
    pub(super) document: Document,
    pub(super) emitter: Rc<Emitter>,
    pub(super) waker: TaskWaker,
    /// Wakes the task: handler timeout and comments on a quiet stream.
    pub(super) timer: Deadline,
    /// Requests answered since a task that held this last stepped aside. A task that never waits takes the same
    /// workspace again each time, so it counts its own.
    pub(super) in_a_row: u32,
}

impl Workspace {
    fn new(core: &Core<App>) -> Self {
        let limits = &core.serve.limits;
        Self {
            machine: Machine::new(transport::http::Limits {
                head_bytes_max: limits.head_bytes,
                headers_max: limits.headers,
                body_bytes_max: limits.body_bytes,
                target_bytes_max: limits.target_bytes,
                ..transport::http::Limits::default()
            }),
            body: Vec::new(),
            document: Document::new(),
            emitter: Emitter::new(limits.emit_bytes),
            waker: TaskWaker::new(&core.wakes),
            timer: core.deadline(None),
            in_a_row: 0,
        }
    }
}

/// The workspaces of one core that nobody uses.
#[derive(Default)]
pub(crate) struct Workspaces(RefCell<Vec<Workspace>>);

impl Workspaces {
    /// The one that was used last, or a new one.
    pub(super) fn take(&self, core: &Core<App>) -> Workspace {
        self.0.borrow_mut().pop().unwrap_or_else(|| Workspace::new(core))
    }

    /// Takes a workspace back. Nothing of its request stays in it.
    pub(super) fn put(&self, mut workspace: Workspace) {
        let mut free = self.0.borrow_mut();
        if free.len() >= KEPT_MAX {
            return;
        }
        workspace.machine.reset();
        workspace.waker.detach();
        workspace.emitter.shed();
        if workspace.body.capacity() > BODY_KEPT_BYTES_MAX {
            workspace.body = Vec::new();
        }
        free.push(workspace);
    }

    /// Gives all that nobody uses back to the allocator.
    pub(super) fn shed(&self) {
        let all = self.0.take();
        drop(all);
    }

    /// Workspaces that nobody uses.
    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.0.borrow().len()
    }
}
