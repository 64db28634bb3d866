//! What is under way for one peer: requests by their ids, so that they can be cancelled and no id is used twice.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use codec::id::OwnedId;

use crate::legacy::client::Abort;

/// The tasks of one peer.
#[derive(Default)]
pub(super) struct Running {
    requests: RefCell<HashMap<OwnedId, Rc<Signals>>>,
    /// What runs and has no id.
    others: RefCell<Vec<Rc<Signals>>>,
    waker: Cell<Option<Waker>>,
}

/// What a running request is told.
#[derive(Default)]
pub(super) struct Signals {
    /// The client has cancelled it, or is gone: nothing of it is sent any more (STD-05).
    pub(super) abort: Abort,
    /// The server ends it: for a subscription, behind its closing result (SUB-14).
    pub(super) end: Abort,
}

impl Running {
    /// Lists a task. `None`: its id is in use.
    pub(super) fn enter(self: &Rc<Self>, id: Option<OwnedId>) -> Option<Entered> {
        let signals = Rc::new(Signals::default());
        if let Some(id) = &id {
            let requests = &mut *self.requests.borrow_mut();
            if requests.contains_key(id) {
                return None;
            }
            requests.insert(id.clone(), Rc::clone(&signals));
        } else {
            self.others.borrow_mut().push(Rc::clone(&signals));
        }
        Some(Entered { running: Rc::clone(self), id, signals })
    }

    pub(super) fn len(&self) -> usize {
        self.requests.borrow().len() + self.others.borrow().len()
    }

    /// One that does not run is ignored (CAN-04).
    pub(super) fn abort(&self, id: &OwnedId) {
        let signals = self.requests.borrow().get(id).cloned();
        signals.iter().for_each(|signals| signals.abort.now());
    }

    pub(super) fn abort_all(&self) {
        self.all().iter().for_each(|signals| signals.abort.now());
    }

    pub(super) fn end_all(&self) {
        self.all().iter().for_each(|signals| signals.end.now());
    }

    fn all(&self) -> Vec<Rc<Signals>> {
        let requests = self.requests.borrow();
        requests.values().chain(&*self.others.borrow()).cloned().collect()
    }

    /// Ready while nothing runs.
    pub(super) fn poll_none(&self, cx: &Context<'_>) -> Poll<()> {
        if self.len() == 0 {
            return Poll::Ready(());
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

/// A task is listed for as long as this lives.
pub(super) struct Entered {
    running: Rc<Running>,
    id: Option<OwnedId>,
    pub(super) signals: Rc<Signals>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        match &self.id {
            Some(id) => drop(self.running.requests.borrow_mut().remove(id)),
            None => {
                let others = &mut *self.running.others.borrow_mut();
                others.retain(|other| !Rc::ptr_eq(other, &self.signals));
            }
        }
        if self.running.len() == 0
            && let Some(waker) = self.running.waker.take()
        {
            waker.wake();
        }
    }
}
