//! The role `payouts`: approved intents are signed by the signer, sent, and watched until they are final.

use bankroll_chains_evm::Node;
use bankroll_signer_client::SignerClient;
use bankroll_store::{Clock, Rows};
use bankroll_withdrawals::{PayoutConfig, PayoutOutcome, StepResult, WaitReason, payouts};

use super::{
    RowsAt, Setup, Stop,
    pace::{Round, rounds},
};
use crate::log::Log;

/// Pays until it is time to stop.
pub fn pay(setup: &Setup, rows: &RowsAt, log: &Log, stop: &Stop) {
    log.say(
        "pays",
        &format!("pays from {} on {}, signed at {}", setup.wallet, setup.chain(), setup.signer.display()),
        &[],
    );
    let (clock, nodes, signer) = (Clock::machine(), Vec::new(), setup.signer());
    let mut payer = Payer { setup, log, clock, nodes, signer, open: None, stuck: None };
    rounds("payouts", setup.poll, log, stop, |turn| payer.round(rows, turn));
}

struct Payer<'a> {
    setup: &'a Setup,
    log: &'a Log,
    clock: Clock,
    nodes: Vec<Node>,
    signer: SignerClient,
    open: Option<(Rows, PayoutConfig)>,
    /// The reason of the jobs that wait for their next try.
    stuck: Option<String>,
}

impl Payer<'_> {
    fn round(&mut self, at: &RowsAt, turn: usize) -> anyhow::Result<Round> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let (rows, config) = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = at.open()?;
                let asset = self.setup.asset(rows.reader())?;
                (rows, self.setup.paying(asset))
            }
        };
        let results = payouts::step(&config, self.clock.now(), node, &mut self.signer, &rows)?;
        self.open = Some((rows, config));
        let (mut went_on, mut stuck, mut put_off) = (false, None, false);
        for (job, result) in &results {
            match result {
                StepResult::Waits(WaitReason::Time | WaitReason::OthersFirst) => {}
                StepResult::Waits(WaitReason::PutOff) => put_off = true,
                StepResult::Waits(reason) => stuck = stuck.or_else(|| Some(reason.to_string())),
                result => {
                    went_on = true;
                    self.report(job, result);
                }
            }
        }
        // As long as a job waits for its next try, the reason still stands.
        self.stuck = stuck.or(self.stuck.take().filter(|_| put_off));
        Ok(match (went_on, self.stuck.clone()) {
            (true, _) => Round::Busy,
            (false, Some(why)) => Round::Waits(why),
            (false, None) => Round::Idle,
        })
    }

    fn report(&self, job: &str, result: &StepResult) {
        let (event, what) = match result {
            StepResult::Signed { hash, .. } => ("payout_signed", format!("is signed: transaction {hash:#x}")),
            StepResult::Sent { .. } => ("payout_sent", "is sent".into()),
            StepResult::Raised { .. } => ("payout_raised", "pays more for gas".into()),
            StepResult::Mined => ("payout_mined", "is in a block".into()),
            StepResult::Unmined => ("payout_unmined", "is no longer in a block".into()),
            StepResult::Ended(PayoutOutcome::Paid) => ("payout_final", "is paid, and final".into()),
            StepResult::Ended(outcome) => ("payout_ended", format!("ended: {}", outcome.as_str())),
            StepResult::Doubted => {
                ("payout_doubted", "needs an operator: its nonce is used by a transaction that is none of ours".into())
            }
            StepResult::Reserved { .. } | StepResult::Prepared | StepResult::Waits(_) => return,
        };
        self.log.tell(event, || (format!("payout {job} {what}"), vec![("job", job.into())]));
    }
}
