//! The end of a peer: what runs may finish, subscriptions are closed, what was said is written, all within bounds (STD-06).

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::channel::{Channel, End, Hangup, within};
use crate::engine::wake::TaskWaker;

/// After the time that running requests have, until the last of what was said must be written, in milliseconds.
const FLUSH_MS: u64 = 1000;

/// Until tasks whose requests were given up have noticed, in milliseconds.
const STRAGGLERS_MS: u64 = 1000;

/// Ends everything of a peer from which no more lines are taken.
pub(super) async fn end(channel: &Rc<Channel>, hangup: &Hangup, why: End) {
    let core = &channel.core;
    let grace_ms = u64::try_from(core.serve.limits.stream_grace.as_millis()).unwrap_or(u64::MAX);
    let now_ms = || core.clock.now_ms();
    let waker = TaskWaker::new(&core.wakes);
    channel.running.end_all();
    if let Some(client) = &*channel.client.borrow()
        && let Some(news) = &client.news
    {
        news.end();
    }
    if why != End::Cut {
        let finished = poll_fn(|cx| {
            if hangup.poll_cut(cx).is_ready()
                || waker.with(cx, |cx| channel.out.poll_broken(cx)).is_ready()
            {
                return Poll::Ready(());
            }
            channel.running.poll_none(cx)
        });
        within(core, now_ms().saturating_add(grace_ms), finished).await;
    }
    if channel.running.len() > 0 {
        core.counters.disconnect_cancellations.add(channel.running.len() as u64);
        tracing::debug!(requests = channel.running.len(), ?why, "given up: their time was over");
        channel.running.abort_all();
        channel.client.borrow().iter().for_each(|client| client.cancel_all());
        let noticed = poll_fn(|cx| channel.running.poll_none(cx));
        within(core, now_ms().saturating_add(STRAGGLERS_MS), noticed).await;
    }
    channel.out.close();
    let written = poll_fn(|cx| {
        if hangup.poll_cut(cx).is_ready() {
            return Poll::Ready(());
        }
        waker.with(cx, |cx| channel.out.poll_ended(cx))
    });
    if !within(core, now_ms().saturating_add(FLUSH_MS), written).await {
        tracing::warn!("the last answers were not read in time");
    }
}
