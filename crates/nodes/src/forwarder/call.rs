//! One call, retried until there is an answer or the deadline is over.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::{
    CHECK_HOLDER_EVERY, CallError, UnavailableReason,
    connector::{Connector, NodeConnection},
};
use crate::{CallRefusal, wire::CallReply};

/// The first and the longest pause before a retry.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// The outcome of one attempt.
enum Attempt {
    Answered(CallReply),
    /// It did not happen; a retry may succeed.
    NotYet(UnavailableReason),
    /// It did not happen; every retry would be refused.
    Never(CallRefusal),
    /// The deadline passed before it was sent.
    OutOfTime,
    /// It was sent, and may have happened.
    InDoubt,
    /// It happened, and every retry would have the same reply, which does not fit a frame.
    ReplyTooLong,
}

/// Whether a call that may have happened is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It has keys: it happens once, however often it arrives.
    UntilAnswered,
    /// A second delivery would be answered differently, as a used nonce is.
    Never,
}

pub(super) async fn call_until(
    connector: &Connector,
    body: &[u8],
    repeat: Repeat,
    deadline: Instant,
) -> Result<CallReply, CallError> {
    let (mut may_have_happened, mut pause) = (false, PAUSE);
    // The latest known reason.
    let mut reason = UnavailableReason::Late;
    loop {
        match attempt(connector, body, deadline).await {
            Attempt::Answered(reply) => return Ok(reply),
            // This refusal does not say whether an earlier attempt happened.
            Attempt::Never(_) if may_have_happened => return Err(CallError::Unknown),
            Attempt::Never(refusal) => return Err(CallError::Refused(refusal)),
            Attempt::NotYet(latest) => reason = latest,
            Attempt::OutOfTime => {}
            Attempt::ReplyTooLong => return Err(CallError::ReplyTooLong),
            Attempt::InDoubt if repeat == Repeat::Never => return Err(CallError::Unknown),
            Attempt::InDoubt => may_have_happened = true,
        }
        if Instant::now() + pause >= deadline {
            return Err(if may_have_happened { CallError::Unknown } else { CallError::Unavailable(reason) });
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn attempt(connector: &Connector, body: &[u8], deadline: Instant) -> Attempt {
    let connection = match timeout_at(deadline, connector.connection()).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(reason)) => return Attempt::NotYet(reason),
        Err(_) => return Attempt::OutOfTime,
    };
    let Some(mut answer) = connection.ask(body) else {
        // The connection was closed, or its queue was full: nothing was sent.
        return Attempt::NotYet(CallRefusal::Busy.into());
    };
    loop {
        let check_holder = async {
            sleep(CHECK_HOLDER_EVERY).await;
            connector.has_moved(&connection).await
        };
        tokio::select! {
            reply = &mut answer => return match reply {
                Ok(reply) => classify(connector, &connection, reply),
                Err(_) => Attempt::InDoubt,
            },
            has_moved = check_holder => if has_moved {
                connector.close(&connection);
                return Attempt::InDoubt;
            },
            () = sleep_until(deadline) => return Attempt::InDoubt,
        }
    }
}

fn classify(connector: &Connector, connection: &NodeConnection, reply: Result<CallReply, CallRefusal>) -> Attempt {
    match reply {
        Ok(reply) => Attempt::Answered(reply),
        Err(CallRefusal::Unknown) => Attempt::InDoubt,
        Err(CallRefusal::ReplyTooLong) => Attempt::ReplyTooLong,
        Err(refusal @ CallRefusal::NotHolder) => {
            connector.close(connection);
            Attempt::NotYet(refusal.into())
        }
        Err(refusal @ CallRefusal::Busy) => Attempt::NotYet(refusal.into()),
        Err(refusal @ (CallRefusal::TooLong | CallRefusal::NotAllowed)) => Attempt::Never(refusal),
    }
}
