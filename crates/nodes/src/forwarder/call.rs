//! One call, asked until there is an answer or the deadline is over.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::{
    CallError, LOOK_AGAIN, Trouble,
    line::{Line, Link},
};
use crate::{Refusal, wire::Reply};

/// How long a call waits before it asks again, at first and at the most.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// What one attempt came to.
enum Attempt {
    Answered(Reply),
    /// It did not happen this time, for a reason that may pass.
    NotYet(Trouble),
    /// It did not happen this time, and never will.
    Never(Refusal),
    /// The deadline came before it could be sent.
    OutOfTime,
    /// It was sent, and may have happened.
    InDoubt,
}

pub(super) async fn carry(line: &Line, question: &[u8], deadline: Instant) -> Result<Reply, CallError> {
    let (mut may_have_happened, mut pause) = (false, PAUSE);
    // What kept it from being made, as far as anybody knows.
    let mut trouble = Trouble::Late;
    loop {
        match attempt(line, question, deadline).await {
            Attempt::Answered(reply) => return Ok(reply),
            // Whether an earlier attempt happened, this refusal does not say.
            Attempt::Never(_) if may_have_happened => return Err(CallError::Unknown),
            Attempt::Never(refusal) => return Err(CallError::Refused(refusal)),
            Attempt::NotYet(told) => trouble = told,
            Attempt::OutOfTime => {}
            Attempt::InDoubt => may_have_happened = true,
        }
        if Instant::now() + pause >= deadline {
            return Err(if may_have_happened { CallError::Unknown } else { CallError::Unavailable(trouble) });
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn attempt(line: &Line, question: &[u8], deadline: Instant) -> Attempt {
    let link = match timeout_at(deadline, line.link()).await {
        Ok(Ok(link)) => link,
        Ok(Err(trouble)) => return Attempt::NotYet(trouble),
        Err(_) => return Attempt::OutOfTime,
    };
    let Some(mut answer) = link.ask(question) else {
        // The connection was gone, or has too much to carry, before anything was sent.
        return Attempt::NotYet(Refusal::Busy.into());
    };
    loop {
        let look_again = async {
            sleep(LOOK_AGAIN).await;
            line.has_moved(&link).await
        };
        tokio::select! {
            told = &mut answer => return match told {
                Ok(told) => judge(line, &link, told),
                Err(_) => Attempt::InDoubt,
            },
            has_moved = look_again => if has_moved {
                line.forget(&link);
                return Attempt::InDoubt;
            },
            () = sleep_until(deadline) => return Attempt::InDoubt,
        }
    }
}

fn judge(line: &Line, link: &Link, told: Result<Reply, Refusal>) -> Attempt {
    match told {
        Ok(reply) => Attempt::Answered(reply),
        Err(Refusal::Unknown) => Attempt::InDoubt,
        Err(refusal @ Refusal::NotHolder) => {
            line.forget(link);
            Attempt::NotYet(refusal.into())
        }
        Err(refusal @ (Refusal::Busy | Refusal::Unreachable | Refusal::StorageFull)) => Attempt::NotYet(refusal.into()),
        Err(refusal @ (Refusal::CallSize { .. } | Refusal::NotAllowed(_))) => Attempt::Never(refusal),
    }
}
