//! What a client of the 2025 era is told unasked: list changes, and updates of the resources it subscribed to
//! (LEG-26). One subscription of the hub stands behind it, so a burst costs a slow reader no memory here either.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use codec::error::{RpcError, code};
use codec::id::Id;
use serde_json::Value;

use crate::app::App;
use crate::dispatch::access_of;
use crate::engine::core::Core;
use crate::hooks::Principal;
use crate::hub::{Envelope, Filter, Full, Kind, Subscription, Topic, Topics};

/// What one client follows.
#[derive(Default)]
pub(crate) struct News {
    uris: RefCell<Vec<Box<str>>>,
    /// Open from the first subscription or the first reader on.
    open: RefCell<Option<Subscription>>,
    /// Told by a subscription that has since been replaced.
    backlog: RefCell<Vec<u8>>,
    waker: Cell<Option<Waker>>,
}

impl News {
    /// Begins to gather changes, unless that has begun.
    ///
    /// # Errors
    /// The server has as many subscriptions as it may.
    pub(crate) fn begin(
        &self,
        core: &Rc<Core<App>>,
        principal: Option<&Rc<Principal>>,
    ) -> Result<(), Full> {
        if self.open.borrow().is_some() {
            return Ok(());
        }
        self.reopen(core, principal)
    }

    /// `resources/subscribe`. Twice is once.
    ///
    /// # Errors
    /// Too many of them, or one that this caller may not watch, which is answered like one that is not there.
    pub(crate) fn subscribe(
        &self,
        core: &Rc<Core<App>>,
        principal: Option<&Rc<Principal>>,
        uri: &str,
    ) -> Result<(), RpcError> {
        if self.uris.borrow().iter().any(|known| **known == *uri) {
            return Ok(());
        }
        if self.uris.borrow().len() >= core.serve.limits.uris_per_listen {
            return Err(RpcError::invalid_params("too many resources are subscribed to"));
        }
        self.uris.borrow_mut().push(uri.into());
        let opened = self.reopen(core, principal);
        let follows = self.uris.borrow().iter().any(|known| **known == *uri);
        match opened {
            Ok(()) if follows => Ok(()),
            Ok(()) => Err(RpcError::resource_not_found(uri)),
            Err(_) => {
                self.unsubscribe_only(uri);
                Err(RpcError::new(code::INTERNAL_ERROR, Full::MESSAGE))
            }
        }
    }

    /// `resources/unsubscribe`; one that was not subscribed to is no fault.
    pub(crate) fn unsubscribe(
        &self,
        core: &Rc<Core<App>>,
        principal: Option<&Rc<Principal>>,
        uri: &str,
    ) {
        if self.unsubscribe_only(uri) && self.reopen(core, principal).is_err() {
            // The seat that was given up is taken by now: nothing is told until the next reader.
            self.open.borrow_mut().take();
        }
    }

    fn unsubscribe_only(&self, uri: &str) -> bool {
        let uris = &mut *self.uris.borrow_mut();
        let before = uris.len();
        uris.retain(|known| **known != *uri);
        uris.len() < before
    }

    /// A subscription names what it follows at its opening: another one takes its place, opened before the old one is
    /// closed, so that nothing is missed in between. What may not be followed falls off the list.
    fn reopen(&self, core: &Rc<Core<App>>, principal: Option<&Rc<Principal>>) -> Result<(), Full> {
        let app = &core.serve;
        let snapshot = core.app.snapshots.load(&app.registry);
        let access = access_of(app, principal);
        let keys = self.uris.borrow().iter().map(|uri| (Kind::RESOURCE, uri.clone())).collect();
        let topics = Topic::ALL.into_iter().fold(Topics::default(), Topics::with);
        let filter = Filter { topics, keys }.honoured(
            app.supported(&snapshot),
            app.exchange.kinds(),
            access.as_ref(),
        );
        let kept: Vec<Box<str>> = filter.keys.iter().map(|(_, uri)| uri.clone()).collect();
        let subject = principal.map(|principal| &*principal.subject);
        let opened = core.app.hub.open(Id::from("news").to_owned(), filter, subject, access)?;
        *self.uris.borrow_mut() = kept;
        if let Some(old) = self.open.borrow_mut().replace(opened) {
            while old.is_dirty()
                && old.take_frames(&mut self.backlog.borrow_mut(), Envelope::Line) > 0
            {}
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Ok(())
    }

    /// Ready with true when there is something to tell, with false when nothing will be told any more.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.backlog.borrow().is_empty() {
            return Poll::Ready(true);
        }
        self.waker.set(Some(cx.waker().clone()));
        let open = self.open.borrow();
        let Some(open) = &*open else { return Poll::Pending };
        // A filter that honours nothing, and a core that drains, end a subscription of the modern era.
        open.poll_news(cx).map(|()| open.is_dirty())
    }

    /// Hands out what is pending, each changed thing once.
    pub(crate) fn take(&self, mut send: impl FnMut(&[u8])) {
        let mut lines = std::mem::take(&mut *self.backlog.borrow_mut());
        if let Some(open) = &*self.open.borrow() {
            open.take_frames(&mut lines, Envelope::Line);
        }
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            send(&untagged(line));
        }
    }

    /// Lets go of everything.
    pub(crate) fn end(&self) {
        self.open.borrow_mut().take();
        self.uris.borrow_mut().clear();
        self.backlog.borrow_mut().clear();
    }
}

/// The notification without the tag that names its subscription, which is no part of this era.
fn untagged(line: &[u8]) -> Vec<u8> {
    let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return line.to_vec() };
    let bare = message.get_mut("params").and_then(Value::as_object_mut).is_some_and(|params| {
        params.shift_remove("_meta");
        params.is_empty()
    });
    if bare && let Some(message) = message.as_object_mut() {
        message.shift_remove("params");
    }
    message.to_string().into_bytes()
}
