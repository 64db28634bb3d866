//! The task that tells many streams of a change. [`Hub::deliver`] takes the first turn of a round by itself; what is left is
//! told from here, turn by turn.

use std::rc::Rc;

use super::core::{Core, Serve};
use super::deadline::Kind;
use crate::hub::Hub;

/// The longest rest between two rounds, in milliseconds.
const REST_MS_MAX: u64 = 100;

/// Goes on with a round, and with the rounds after it for as long as there is news. Between two rounds the core rests from
/// telling for as long as the last one took, [`REST_MS_MAX`] at most: however fast changes come, it has time for requests, and
/// a burst of changes is told in two or three messages.
pub(crate) async fn go_on<S: Serve>(core: Rc<Core<S>>, hub: Rc<Hub>) {
    let rest = core.deadline(None);
    loop {
        core.clock.refresh();
        let began_ms = core.clock.now_ms();
        loop {
            core.turns.step_aside().await;
            if !hub.turn() {
                break;
            }
        }
        core.clock.refresh();
        let now_ms = core.clock.now_ms();
        rest.arm(Kind::Sleep, now_ms.saturating_add((now_ms - began_ms).min(REST_MS_MAX)));
        rest.passed().await;
        if !hub.next_round() {
            return;
        }
    }
}
