//! The role `payouts`: has approved intents signed, sends them, and watches them until they are final.

use bankroll_chains_evm::Node;
use bankroll_signer_client::SignerClient;
use bankroll_store::{Clock, Rows};
use bankroll_withdrawals::{Happened, Outcome, Paying, Why, payouts};

use super::{
    FlowSetup, RowsLocation, StopFlag,
    pace::{LoopRound, rounds},
};
use crate::log::{NodeLog, on_one_line};

/// Pays until a stop is requested.
pub fn pay(setup: &FlowSetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    log.write(
        "pays",
        &format!("pays from {} on {}, with the signer at {}", setup.wallet, setup.chain(), setup.signer.display()),
        &[],
    );
    let (clock, nodes, signer) = (Clock::machine(), Vec::new(), setup.signer());
    let mut payout_loop = PayoutLoop { setup, log, clock, nodes, signer, open: None, stuck: None };
    rounds("payouts", setup.poll, log, stop, |turn| payout_loop.round(rows, turn));
}

struct PayoutLoop<'a> {
    setup: &'a FlowSetup,
    log: &'a NodeLog,
    clock: Clock,
    nodes: Vec<Node>,
    signer: SignerClient,
    open: Option<(Rows, Paying)>,
    /// What stood in the way of those that are left alone for a while.
    stuck: Option<String>,
}

impl PayoutLoop<'_> {
    fn round(&mut self, at: &RowsLocation, turn: usize) -> anyhow::Result<LoopRound> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let (rows, paying) = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = at.open()?;
                let asset = self.setup.asset(rows.reader())?;
                (rows, self.setup.paying(asset))
            }
        };
        let happened = payouts::step(&paying, self.clock.now(), node, &mut self.signer, &rows)?;
        self.open = Some((rows, paying));
        let (mut went_on, mut stuck, mut put_off) = (false, None, false);
        for (job, what) in &happened {
            match what {
                Happened::Waits(Why::Time | Why::OthersFirst) => {}
                Happened::Waits(Why::PutOff) => put_off = true,
                Happened::Waits(why) => stuck = stuck.or_else(|| Some(in_words(why))),
                what => {
                    went_on = true;
                    self.tell(job, what);
                }
            }
        }
        // Nothing is better as long as somebody waits for another try.
        self.stuck = stuck.or(self.stuck.take().filter(|_| put_off));
        Ok(match (went_on, self.stuck.clone()) {
            (true, _) => LoopRound::Busy,
            (false, Some(why)) => LoopRound::Waits(why),
            (false, None) => LoopRound::Idle,
        })
    }

    fn tell(&self, job: &str, happened: &Happened) {
        let (event, what) = match happened {
            Happened::Signed { hash, .. } => ("payout_signed", format!("is signed: transaction {hash:#x}")),
            Happened::Sent { .. } => ("payout_sent", "is sent".into()),
            Happened::Raised { .. } => ("payout_raised", "pays more for gas".into()),
            Happened::Mined => ("payout_mined", "is in a block".into()),
            Happened::Unmined => ("payout_unmined", "is no longer in a block".into()),
            Happened::Ended(Outcome::Paid) => ("payout_final", "is paid, and final".into()),
            Happened::Ended(outcome) => ("payout_ended", format!("ended: {}", outcome.as_str())),
            Happened::Doubted => ("payout_doubted", "needs a person: its nonce is used by somebody else".into()),
            Happened::Reserved { .. } | Happened::Prepared | Happened::Waits(_) => return,
        };
        self.log.write_verbose(event, || (format!("payout {job} {what}"), vec![("job", job.into())]));
    }
}

/// What stands in the way, for whoever can do something about it.
fn in_words(why: &Why) -> String {
    match why {
        Why::Time | Why::OthersFirst | Why::PutOff => "nothing".into(),
        Why::WalletShort => "the wallet does not have enough".into(),
        Why::HouseShort => "the house has not enough capital of its own to pay for gas".into(),
        Why::FeesAboveCeiling => "the chain asks more for gas than chain.max_fee_per_gas".into(),
        Why::WouldFail => "the node says that a payment would fail".into(),
        Why::TooMuchGas => "a payment would take too much gas".into(),
        Why::WalletStopped => "nothing new is paid from the wallet until a person has looked at it".into(),
        Why::ForeignNonce { expected, found } => {
            format!("somebody else pays from the wallet: nonce {expected} was next, the chain has {found}")
        }
        Why::SignerRefuses(refusal) => format!("the signer refuses: {refusal}"),
        Why::Contradicted => "what is final on the chain is not what was settled: a person must look".into(),
        Why::InDebt => {
            "a player owes what the chain took back of his deposits, and is not paid until he has repaid it".into()
        }
        Why::NotAsDecided => "the rows of a payout are not what the books have decided: a person must look".into(),
        Why::NoNonce => "a job has no nonce: a person must look".into(),
        Why::Node(error) => on_one_line(error),
        Why::Signer(why) => why.clone(),
    }
}
