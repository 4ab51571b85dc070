//! A tick of the game as one batch; exits one by one, since each requests a payout.

use anyhow::{Context, bail, ensure};
use bankroll_ledger::{Amount, Rejection};
use bankroll_nodes::RelayedResponse;
use serde::{Deserialize, Serialize};

use super::{
    GameClient,
    calls::{ProblemText, problem_of},
};
use crate::{
    arena::SERVER,
    game::{ArenaGame, RequestOutcome},
    requests::{MoveCall, NumberedRequest},
};

/// One operation of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BatchMove {
    pub key: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    pub amount: Amount,
}

/// A player leaves and is paid; the house pays the gas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExitMove {
    pub exit_id: String,
    pub player: String,
    pub amount: Amount,
    pub payout: &'static str,
}

#[derive(Serialize)]
struct BatchOrder<'a> {
    operations: &'a [BatchMove],
}

#[derive(Deserialize)]
struct BatchResults {
    results: Vec<MoveResult>,
}

/// What a batch did with one move. What moved is in the answer, too; the game knows it.
#[derive(Deserialize)]
struct MoveResult {
    replayed: bool,
    error: Option<MoveError>,
}

#[derive(Deserialize)]
struct MoveError {
    #[serde(flatten)]
    problem: ProblemText,
    retriable: bool,
}

impl GameClient {
    /// Sends the moves of one tick, and returns the outcome of each.
    pub fn ask(
        &self,
        game: &ArenaGame,
        moves: &[NumberedRequest],
        busy: impl Fn(),
    ) -> anyhow::Result<Vec<RequestOutcome>> {
        let calls: Vec<MoveCall> = moves.iter().map(|numbered| game.call(numbered)).collect();
        let batched: Vec<BatchMove> = calls.iter().filter_map(MoveCall::batched).cloned().collect();
        let mut of_batch = self.batch(&batched, &busy)?.into_iter();
        let outcome = |call: &MoveCall| match call {
            MoveCall::Batched(_) => of_batch.next().context("an answer is missing"),
            MoveCall::Exit(exit) => self.exit(exit, &busy),
        };
        calls.iter().map(outcome).collect()
    }

    /// Many operations in one call. While the outcome of one of them is unknown, all are sent again: those that were
    /// decided answer the same.
    pub fn batch(&self, operations: &[BatchMove], busy: &impl Fn()) -> anyhow::Result<Vec<RequestOutcome>> {
        if operations.is_empty() {
            return Ok(Vec::new());
        }
        let body = serde_json::to_vec(&BatchOrder { operations })?;
        loop {
            let answer = self.post(&format!("/v1/servers/{SERVER}/batch"), None, &body, busy)?;
            if answer.status != 200 {
                let ProblemText { code, detail } = problem_of(&answer);
                bail!("the Funds API refused a tick of the game: {detail} ({code})");
            }
            let answer: BatchResults = serde_json::from_slice(&answer.body).context("the answer is malformed")?;
            ensure!(answer.results.len() == operations.len(), "an answer is missing");
            let is_open = |result: &MoveResult| result.error.as_ref().is_some_and(|error| error.retriable);
            if !answer.results.iter().any(is_open) {
                return answer.results.into_iter().map(MoveResult::outcome).collect();
            }
            busy();
        }
    }

    fn exit(&self, exit: &ExitMove, busy: &impl Fn()) -> anyhow::Result<RequestOutcome> {
        let path = format!("/v1/servers/{SERVER}/exits");
        let answer = self.post(&path, Some(&exit.exit_id), &serde_json::to_vec(exit)?, busy)?;
        let result = if answer.status == 200 { Ok(()) } else { Err(rejection(&problem_of(&answer))?) };
        Ok(RequestOutcome { replayed: is_replay(&answer), result })
    }
}

impl MoveResult {
    fn outcome(self) -> anyhow::Result<RequestOutcome> {
        let refused = self.error.map(|error| rejection(&error.problem)).transpose()?;
        Ok(RequestOutcome { replayed: self.replayed, result: refused.map_or(Ok(()), Err) })
    }
}

fn is_replay(answer: &RelayedResponse) -> bool {
    answer.headers.iter().any(|(name, value)| name == "idempotent-replayed" && value == "true")
}

/// The refusals that the game expects at some places; any other is a bug in the game or in the service.
fn rejection(problem: &ProblemText) -> anyhow::Result<Rejection> {
    Ok(match problem.code.as_str() {
        "insufficient_funds" => Rejection::InsufficientFunds,
        "route_not_allowed" => Rejection::NotAllowed,
        "idempotency_mismatch" => Rejection::KeyReused,
        code => bail!("the Funds API refused a move of the game: {} ({code})", problem.detail),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_written_as_the_documentation_says_and_its_answer_is_read() {
        let operations = [
            BatchMove {
                key: "7-0-000000001".into(),
                kind: "transfer",
                from: Some("arena/funds/1/0xab".into()),
                to: Some("arena/world/1".into()),
                amount: Amount::new(10),
            },
            BatchMove { key: "7-0-000000002".into(), kind: "pellets", from: None, to: None, amount: Amount::new(1) },
        ];
        let body = serde_json::to_string(&BatchOrder { operations: &operations }).unwrap();
        assert_eq!(
            body,
            r#"{"operations":[{"key":"7-0-000000001","type":"transfer","from":"arena/funds/1/0xab","to":"arena/world/1","amount":"10"},{"key":"7-0-000000002","type":"pellets","amount":"1"}]}"#
        );
        let answer = r#"{"results":[{"key":"a","applied":{"record":"rec_1"},"replayed":true},{"key":"b","replayed":false,
            "error":{"code":"insufficient_funds","detail":"too little","retriable":false}}]}"#;
        let results: BatchResults = serde_json::from_str(answer).unwrap();
        let outcomes: Vec<RequestOutcome> =
            results.results.into_iter().map(|result| result.outcome().unwrap()).collect();
        assert_eq!((outcomes[0].replayed, outcomes[0].result), (true, Ok(())));
        assert_eq!((outcomes[1].replayed, outcomes[1].result), (false, Err(Rejection::InsufficientFunds)));
    }

    #[test]
    fn a_refusal_that_no_game_expects_is_an_error() {
        let paused = ProblemText { code: "server_paused".into(), detail: "paused".into() };
        assert_eq!(
            rejection(&paused).unwrap_err().to_string(),
            "the Funds API refused a move of the game: paused (server_paused)"
        );
    }
}
