//! One body of a client of the 2025 era, from its messages to its answers. It knows no transport: messages before the
//! answer leave through the [`Outlet`], the answer is returned.

use std::rc::Rc;

use codec::document::Document;
use codec::error::RpcError;
use codec::id::Id;
use codec::message::{Malformed, Notification, Request};
use codec::value::Value;
use codec::write;
use transport::http::HeadView;
use transport::mcp::envelope::Envelope;
use transport::mcp::ladder::{Case, Rung};
use transport::mcp::legacy::{self, Incoming};
use transport::mcp::refusal::Refusal;

use super::client::Client;
use super::outlet::Outlet;
use super::turns::Turns;
use super::{methods, shapes};
use crate::app::{App, AppSurface};
use crate::dispatch::{self, Admitted, Plan, Run};
use crate::engine::core::Core;
use crate::engine::guard;
use crate::hooks::Principal;
use crate::registry::Snapshot;
use crate::serve::Running;

/// What a request is served with.
pub(crate) struct Exchange<'a> {
    pub(crate) core: &'a Rc<Core<App>>,
    pub(crate) client: &'a Client,
    pub(crate) principal: Option<&'a Rc<Principal>>,
    pub(crate) head: Option<HeadView<'a>>,
    pub(crate) outlet: &'a dyn Outlet,
}

/// What a body is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A response, or an array of them.
    Message(Vec<u8>),
    /// Nothing is to be answered: notifications and responses.
    Accepted,
    /// Not a message of the protocol, or one that may not be served: with the status that HTTP gives it.
    Refused(Refusal, Option<codec::id::OwnedId>),
    /// The client has cancelled the request, or its session has ended: no answer comes.
    Cancelled,
}

impl Exchange<'_> {
    /// Serves whatever came in one body.
    pub(crate) async fn body(&self, document: &Document) -> Reply {
        let root = document.root();
        if let Some(elements) = root.as_array() {
            return match self.client.version.has_batches() {
                true => self.batch(document, elements).await,
                false => refused("batches ended with revision 2025-03-26", None),
            };
        }
        match legacy::read(document, root) {
            Err(malformed) => refused(malformed.reason, malformed.id.as_ref()),
            Ok(incoming) => self.message(&incoming, root).await,
        }
    }

    async fn message(&self, incoming: &Incoming<'_>, root: Value<'_>) -> Reply {
        match incoming {
            Incoming::Request(request) => self.request(request, root).await,
            Incoming::Notification(notification) => {
                self.notification(notification);
                Reply::Accepted
            }
            Incoming::Response(response) => {
                self.client.answered(response);
                Reply::Accepted
            }
        }
    }

    /// One after the other, in their order; what is answered is answered in one array (LEG-22).
    async fn batch(&self, document: &Document, elements: codec::value::Array<'_>) -> Reply {
        let most = self.core.serve.limits.batch_messages;
        let messages = match legacy::read_batch(document, elements, most) {
            Ok(messages) => messages,
            Err(error) => return Reply::Refused(Refusal::at(Rung::Shape, error), None),
        };
        let mut answers = vec![b'['];
        for (incoming, root) in messages.iter().zip(elements.iter()) {
            let answer = match incoming {
                Ok(incoming) => self.message(incoming, root).await,
                Err(Malformed { id, reason }) => refused(reason, id.as_ref()),
            };
            match answer {
                Reply::Message(answer) => answers.extend_from_slice(&answer),
                Reply::Refused(refusal, id) => {
                    let error =
                        refusal.error.unwrap_or_else(|| RpcError::invalid_request("Refused"));
                    let id = id.as_ref().map(codec::id::OwnedId::as_id);
                    write::error_response(&mut answers, id.as_ref(), &error);
                }
                Reply::Accepted | Reply::Cancelled => continue,
            }
            answers.push(b',');
        }
        if answers.len() == 1 {
            return Reply::Accepted;
        }
        answers.pop();
        answers.push(b']');
        Reply::Message(answers)
    }

    /// LEG-14, LEG-21; those that say nothing to this server are dropped.
    fn notification(&self, notification: &Notification<'_>) {
        match notification.method {
            "notifications/initialized" => self.client.initialized.set(true),
            "notifications/cancelled" => {
                let id = notification.params.and_then(|params| params.get("requestId"));
                if let Some(id) = id.and_then(Id::from_value) {
                    self.client.cancel(&id);
                }
            }
            _ => {}
        }
    }

    async fn request(&self, request: &Request<'_>, root: Value<'_>) -> Reply {
        let app = &self.core.serve;
        let snapshot = self.core.app.snapshots.load(&app.registry);
        let mut body = Vec::new();
        // LEG-69: a client that introduces itself again.
        if request.method == "initialize" {
            return refused("this session has had its initialize", Some(&request.id));
        }
        if let Some(done) =
            methods::own(self.core, self.client, self.principal, request.method, request.params)
        {
            match done {
                Ok(()) => shapes::empty(&mut body, &request.id),
                Err(error) => failed(&mut body, &request.id, error, request.method),
            }
            return Reply::Message(body);
        }
        // LEG-23: at status 200.
        if !methods::is_served(app, &snapshot, request.method) {
            failed(&mut body, &request.id, RpcError::method_not_found(request.method), "");
            return Reply::Message(body);
        }
        self.feature(request, root, &snapshot, body).await
    }

    /// A request for what the server offers: the same plan as in the modern era, below another envelope.
    async fn feature(
        &self,
        request: &Request<'_>,
        root: Value<'_>,
        snapshot: &Snapshot,
        mut body: Vec<u8>,
    ) -> Reply {
        let app = &*self.core.serve;
        let surface = AppSurface { app, snapshot };
        let mut case = Case::new(*request, None, &surface);
        let progress_token = match case.meta.progress_token() {
            Ok(token) => token,
            Err(fault) => {
                failed(&mut body, &request.id, fault.into(), request.method);
                return Reply::Message(body);
            }
        };
        case.envelope = Envelope {
            capabilities: Some(self.client.capabilities()),
            client: self.client.info(),
            log_level: self.client.level.get().filter(|_| app.logging),
            progress_token,
        };
        let admitted = Admitted {
            request: *request,
            capabilities: case.envelope.capabilities,
            root,
            app,
            snapshot,
            headers: None,
            principal: self.principal,
            now: self.core.clock.unix_secs(),
        };
        shapes::begin(&mut body, &request.id);
        let start = body.len();
        match guard::catch(|| dispatch::plan(&admitted, &mut body)) {
            Err(panic) => {
                self.core.counters.panics.add(1);
                tracing::error!(%panic, "a guard or the dispatch of a request panicked");
                failed(&mut body, &request.id, RpcError::internal(), request.method);
                Reply::Message(body)
            }
            Ok(Err(refusal)) => not_admitted(refusal, request, body),
            // Neither is asked for: `is_served` leaves their methods out.
            Ok(Ok(Plan::Listen(_))) => Reply::Cancelled,
            Ok(Ok(plan @ (Plan::Ready(_) | Plan::Around(..)))) => {
                if let Plan::Around(_, splice) = plan {
                    splice.copy_into(&mut body);
                }
                if request.method == "tools/list" {
                    shapes::tools(&mut body, start, snapshot.tools.iter().map(|tool| &**tool));
                }
                shapes::end(&mut body, None);
                Reply::Message(body)
            }
            Ok(Ok(Plan::Run(run))) => self.run(&case, &run, start, body).await,
        }
    }

    async fn run(
        &self,
        case: &Case<'_, AppSurface<'_>>,
        run: &Run<'_>,
        start: usize,
        body: Vec<u8>,
    ) -> Reply {
        let running = &self.core.app.running;
        if running.get() >= self.core.serve.limits.requests_per_core {
            let error = RpcError::busy();
            let refusal = Refusal::at(Rung::Handler, error).with_status(503);
            let refusal = refusal.with_header("Retry-After", "1");
            return Reply::Refused(refusal, Some(case.request.id.to_owned()));
        }
        let _counted = Running::enter(running);
        let entered = self.client.enter(&case.request.id);
        let turns = Turns { exchange: self, case, run, start, abort: &entered.abort };
        turns.rounds(body).await
    }
}

/// A refusal of rungs 17 to 23: in band, but for those in an authenticator's words, which have a status of their own.
fn not_admitted(refusal: Refusal, request: &Request<'_>, mut body: Vec<u8>) -> Reply {
    match refusal.error {
        Some(error) => {
            failed(&mut body, &request.id, error, request.method);
            Reply::Message(body)
        }
        None => Reply::Refused(refusal, Some(request.id.to_owned())),
    }
}

/// An error as the answer.
pub(super) fn failed(body: &mut Vec<u8>, id: &Id<'_>, error: RpcError, method: &str) {
    body.clear();
    write::error_response(body, Some(id), &shapes::error(error, method));
}

fn refused(reason: &'static str, id: Option<&Id<'_>>) -> Reply {
    let refusal = Refusal::at(Rung::Shape, RpcError::invalid_request(reason));
    Reply::Refused(refusal, id.map(|id| id.to_owned()))
}
