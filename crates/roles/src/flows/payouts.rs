//! The role `payouts`: has approved intents signed, sends them, and watches them until they are final.

use std::collections::BTreeSet;

use bankroll_chains_evm::RpcNode;
use bankroll_ledger::Name;
use bankroll_registry::frozen_owner;
use bankroll_signer_client::SignerClient;
use bankroll_store::{Clock, Reader, Rows};
use bankroll_withdrawals::{PayoutConfig, PayoutError, PayoutOutcome, StepResult, WaitReason, payouts};

use super::{
    FlowSetup, ProbeTrouble, RowsLocation, StopFlag,
    pace::{LoopRound, rounds},
};
use crate::{
    log::NodeLog,
    reconciliation::halt_of,
    registry::{ChainView, read_error},
};

/// Pays until a stop is requested; not at all on a chain without a signer.
pub fn pay(setup: &FlowSetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    let (Some(socket), Some(signer)) = (&setup.signer, setup.signer()) else {
        log.write("pays_nothing", &format!("pays nothing on {}: {} is empty", setup.chain(), setup.key("signer")), &[]);
        return;
    };
    log.write("pays", &format!("pays on {}, with the signer at {}", setup.chain(), socket.display()), &[]);
    if let Err(ProbeTrouble { found, fix }) = setup.probe_signer(".") {
        log.write("signer_trouble", &format!("nothing can be paid: {found}; {fix}"), &[]);
    }
    let (clock, nodes) = (Clock::machine(), Vec::new());
    let mut payout_loop = PayoutLoop { setup, log, clock, nodes, signer, open: None, stuck: None, halted: None };
    rounds("payouts", setup.poll, log, stop, |turn| payout_loop.round(rows, turn));
}

/// Whether an operator has frozen a player, as the registry says now.
fn is_frozen(reader: &Reader, player: &Name) -> Result<bool, PayoutError> {
    let found = frozen_owner(reader, player).map_err(|error| match read_error(error) {
        Ok(store) => PayoutError::from(store),
        Err(bad) => bad.into(),
    })?;
    Ok(found.is_some())
}

struct PayoutLoop<'a> {
    setup: &'a FlowSetup,
    log: &'a NodeLog,
    clock: Clock,
    nodes: Vec<RpcNode>,
    signer: SignerClient,
    open: Option<OpenPayouts>,
    /// What blocks the payouts that are put off.
    stuck: Option<WaitReason>,
    /// Why nothing new is paid, as the log has it.
    halted: Option<String>,
}

struct OpenPayouts {
    rows: Rows,
    view: ChainView,
    /// One for each wallet that pays.
    wallets: Vec<PayoutConfig>,
    /// Servers whose payouts wait.
    paused: BTreeSet<Name>,
}

impl PayoutLoop<'_> {
    fn round(&mut self, at: &RowsLocation, turn: usize) -> anyhow::Result<LoopRound> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = Rows::open(at)?;
                let view = ChainView::new(self.setup.chain(), self.setup.asset(rows.reader())?);
                OpenPayouts { rows, view, wallets: Vec::new(), paused: BTreeSet::new() }
            }
        };
        if open.view.update(open.rows.reader())? {
            let wallets = open.view.payout_wallets().into_iter();
            open.wallets = wallets.map(|wallet| self.setup.payout_config(wallet)).collect();
            open.paused = open.view.paused_payouts();
        }
        let halt = halt_of(open.rows.reader(), self.setup.chain(), self.setup.profile.is_development)?;
        self.log_halt(halt.as_deref());
        let all = halt.is_some().then(|| open.view.all_servers());
        let paused = all.as_ref().unwrap_or(&open.paused);
        let node = &self.nodes[turn % self.nodes.len()];
        let mut results = Vec::new();
        for wallet in &open.wallets {
            let now = self.clock.now();
            results.extend(payouts::step(wallet, paused, &is_frozen, now, node, &mut self.signer, &open.rows)?);
        }
        self.open = Some(open);
        let (mut went_on, mut stuck, mut put_off, mut signed) = (false, None, false, false);
        for (job, result) in &results {
            match result {
                // A freeze is what an operator wants, and blocks no other payout.
                StepResult::Waits(WaitReason::Time | WaitReason::OthersFirst | WaitReason::Frozen) => {}
                StepResult::Waits(WaitReason::PutOff) => put_off = true,
                StepResult::Waits(reason) => stuck = stuck.or_else(|| Some(reason.clone())),
                result => {
                    went_on = true;
                    signed |= matches!(result, StepResult::Signed { .. });
                    self.log_step(job, result);
                }
            }
        }
        // A payout that was put off still waits for what blocked it; but a signer that has signed can be reached.
        let is_over = |reason: &WaitReason| signed && matches!(reason, WaitReason::Signer(_));
        self.stuck = stuck.or(self.stuck.take().filter(|reason| put_off && !is_over(reason)));
        Ok(match (went_on, &self.stuck) {
            (true, _) => LoopRound::Busy,
            (false, Some(why)) => LoopRound::Waits(why.to_string()),
            (false, None) => LoopRound::Idle,
        })
    }

    /// Says once that nothing new is paid, and once that it is again.
    fn log_halt(&mut self, why: Option<&str>) {
        match (why, &self.halted) {
            (Some(why), halted) if halted.as_deref() != Some(why) => {
                let sentence = format!("nothing new is paid on {}: {why}", self.setup.chain());
                self.log.write("payouts_halted", &sentence, &[]);
            }
            (None, Some(_)) => {
                self.log.write("payouts_go_on", &format!("payouts go on on {}", self.setup.chain()), &[]);
            }
            _ => return,
        }
        self.halted = why.map(str::to_owned);
    }

    fn log_step(&self, job: &str, result: &StepResult) {
        let payout = job.strip_prefix("job-").unwrap_or(job);
        let (event, what) = match result {
            StepResult::Signed { hash, .. } => ("payout_signed", format!("is signed: transaction {hash:#x}")),
            StepResult::Sent { .. } => ("payout_sent", "is sent".into()),
            StepResult::Raised { .. } => ("payout_raised", "pays more for gas".into()),
            StepResult::Mined => ("payout_mined", "is in a block".into()),
            StepResult::Unmined => ("payout_unmined", "is no longer in a block".into()),
            StepResult::Ended(PayoutOutcome::Paid) => ("payout_final", "is paid, and final".into()),
            StepResult::Ended(outcome) => ("payout_ended", format!("ended: {}", outcome.as_str())),
            StepResult::Doubted => {
                let what = "needs an operator: its nonce was used by another transaction";
                ("payout_doubted", format!("{what}; see `bankroll explain {payout}`"))
            }
            StepResult::Reserved { .. } | StepResult::Prepared | StepResult::Waits(_) => return,
        };
        self.log.write_each(event, || (format!("payout {payout} {what}"), vec![("job", job.into())]));
    }
}
