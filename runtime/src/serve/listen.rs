//! A request that opens a subscription: the link leaves with it.

use std::time::Duration;

use codec::error::{RpcError, code};

use super::answer::{Closing, Reply};
use super::connection::{Handover, Next};
use super::request::Exchange;
use crate::dispatch::{self, Admitted};
use crate::engine::listen::Pace;
use crate::hub::{Filter, Full};
use crate::io::Link;

impl<L: Link> Exchange<'_, L> {
    /// Opens a subscription: the link leaves with it. Refused before any acknowledgement when there is no room
    /// (SUB-17).
    pub(super) fn listen(&mut self, admitted: &Admitted<'_>, filter: Filter) -> Next<L> {
        let request = &admitted.request;
        let subject = self.principal.map(|principal| &*principal.subject);
        let access = dispatch::access(admitted);
        let opened = self.core.app.hub.open(request.id.to_owned(), filter, subject, access);
        let Ok(subscription) = opened else {
            let error = RpcError::new(code::INTERNAL_ERROR, Full::MESSAGE);
            let answer = dispatch::error_answer(error, &request.id, self.body);
            return self.answer(answer, self.preferred(), request);
        };
        let Some(link) = self.link.take() else { return Next::Gone };
        self.observe(request.method, None, 200, None, None);
        let reply = Reply { closing: Closing::Close, ..self.reply };
        let mut head = std::mem::take(self.out);
        reply.stream_head(&mut head);
        let limits = &self.app().limits;
        let now = self.core.clock.unix_secs();
        let expires = self.principal.and_then(|principal| principal.expires_at);
        let pace = Pace {
            chunked: self.reply.minor > 0,
            keep_alive_ms: whole_ms(limits.keep_alive),
            write_timeout_ms: whole_ms(limits.write_timeout),
            until_ms: expires.map_or(u64::MAX, |at| {
                self.core.clock.now_ms().saturating_add(at.saturating_sub(now).saturating_mul(1000))
            }),
        };
        Next::Listen(Box::new(Handover { link, head, subscription, pace }))
    }
}

/// Milliseconds; what is longer than 49 days counts as 49 days.
fn whole_ms(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}
