//! A payout in words.

use std::fmt::{self, Write};

use bankroll_ledger::{Seq, Time};
use bankroll_store::Reader;
use bankroll_terminal::{Assets, Paint, Width, decimal, thousands, when};
use bankroll_withdrawals::views::{self, PayoutAttemptView, PayoutStage, PayoutView};

/// Where the values of a payout begin, and the last column of a line.
const INDENT: usize = 15;
const WIDTH: usize = 100;
/// The decimals of a gwei in base units of the coin.
const GWEI_DECIMALS: u8 = 9;

/// A payout with what is read about it in addition.
pub struct PayoutDetails {
    pub payout: PayoutView,
    /// Its transactions, oldest first.
    pub attempts: Vec<PayoutAttemptView>,
    /// The time of the record that made it.
    pub requested_at: Option<Time>,
}

impl PayoutDetails {
    pub fn read(reader: &Reader, payout: PayoutView) -> anyhow::Result<Self> {
        let attempts = payout.job.as_ref().map(|job| views::attempts_of(reader, job)).transpose()?.unwrap_or_default();
        let requested_at = match payout.hold.map(|hold| hold.made_by()) {
            Some(seq) => reader.journal_after(Seq(seq.0.saturating_sub(1)), 1)?.first().map(|entry| entry.at),
            None => None,
        };
        Ok(Self { payout, attempts, requested_at })
    }

    /// Everything about the payout.
    pub fn text(&self, assets: &Assets, paint: Paint) -> Result<String, fmt::Error> {
        let (mut text, payout) = (String::new(), &self.payout);
        let coins = |amount| assets.with_symbol(payout.asset, amount);
        writeln!(text, "{}", paint.strong(&format!("payout {}", payout.intent)))?;
        writeln!(text, "  state        {}", wrapped(&state_words(payout, Width::Short)))?;
        writeln!(text, "  amount       {}  ({} base units)", coins(payout.amount), payout.amount)?;
        writeln!(text, "  to           {}", payout.to)?;
        writeln!(text, "  player       {} of {}", payout.wallet, payout.server)?;
        writeln!(text, "  request      {}", payout.request_id)?;
        if let (Some(at), Some(hold)) = (self.requested_at, payout.hold) {
            writeln!(text, "  requested    {}, record {}", when::show(at), hold.made_by())?;
        }
        match payout.fee_cap {
            Some(cap) => writeln!(text, "  gas          paid by the player, at most {}", coins(cap))?,
            None => writeln!(text, "  gas          paid by the house")?,
        }
        if let Some(fee) = payout.fee {
            writeln!(text, "  gas cost     {}", coins(fee))?;
        }
        if let Some(job) = &payout.job {
            writeln!(text, "  pays from    {}", job.pays_from)?;
            if let Some(nonce) = job.nonce {
                writeln!(text, "  nonce        {nonce}")?;
            }
            if let Some(block) = &job.block {
                writeln!(text, "  block        {} {}", block.number, block.hash)?;
            }
            if job.cancel_requested {
                writeln!(text, "  cancel       requested")?;
            }
            if let Some(stopped) = &job.wallet_stopped {
                writeln!(text, "  wallet       stopped: {stopped}")?;
            }
        }
        self.attempts.iter().try_for_each(|attempt| write_attempt(&mut text, attempt))?;
        Ok(text)
    }
}

fn write_attempt(text: &mut String, attempt: &PayoutAttemptView) -> fmt::Result {
    let hash = attempt.tx_hash.as_deref().unwrap_or("not signed yet");
    writeln!(text, "  attempt {:<4} {hash}", attempt.number)?;
    let what = if attempt.is_cancel { "cancels the payout" } else { "pays" };
    let sent = attempt.last_sent_at.map_or_else(|| "not sent yet".into(), |at| format!("sent {}", when::seconds(at)));
    let (gas, fee) = (thousands(attempt.gas_limit), decimal(attempt.max_fee, GWEI_DECIMALS));
    writeln!(text, "               {what}; {gas} gas, at most {fee} gwei each; {sent}")?;
    if let Some(refused) = &attempt.refused {
        writeln!(text, "               the signer refused it: {refused}")?;
    }
    Ok(())
}

/// The words in lines that fit a screen; the first one begins after a label.
fn wrapped(words: &str) -> String {
    let (mut lines, mut column) = (String::new(), INDENT);
    for word in words.split(' ') {
        let length = word.chars().count();
        if !lines.is_empty() && column + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(INDENT));
            column = INDENT;
        } else if !lines.is_empty() {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// The state as a sentence without its full stop: `sent as 0x12ab…89ef (nonce 3), not in a block yet`.
pub fn state_words(payout: &PayoutView, width: Width) -> String {
    let job = payout.job.as_ref();
    let nonce = job.and_then(|job| job.nonce).map(|nonce| format!("nonce {nonce}"));
    let block = job.and_then(|job| job.block.as_ref()).map(|block| format!("block {}", block.number));
    let place: Vec<String> = nonce.into_iter().chain(block).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    let hash = payout.final_tx_hash.as_deref().or_else(|| job.and_then(|job| job.tx_hash.as_deref()));
    let sent = hash.map_or_else(String::new, |hash| format!(" as {}", width.fit(hash)));
    let words = match payout.stage {
        PayoutStage::AwaitingApproval => "waits for an operator's approval".to_owned(),
        PayoutStage::Waiting => "approved, not signed yet".to_owned(),
        PayoutStage::Signing => format!("being signed{place}"),
        PayoutStage::Sent => format!("sent{sent}{place}, not in a block yet"),
        PayoutStage::Mined => format!("sent{sent}{place}, not final yet"),
        PayoutStage::Settling => format!("sent{sent}{place}, final; the books settle it next"),
        PayoutStage::Unknown => format!("unknown{place}: needs an operator"),
        PayoutStage::Paid => format!("paid{sent}{place}, final"),
        PayoutStage::Failed => {
            format!("failed: {}; the money was released", payout.reason.as_deref().map_or("no reason", reason_words))
        }
    };
    let is_open = !matches!(payout.stage, PayoutStage::Paid | PayoutStage::Failed | PayoutStage::Settling);
    match job.and_then(|job| job.waits.as_deref()).filter(|_| is_open) {
        Some(why) => format!("{words}; waits: {why}"),
        None => words,
    }
}

/// The stored reason for which a payout failed.
fn reason_words(code: &str) -> &str {
    match code {
        "reverted" => "the transaction failed on the chain",
        "cancelled" => "it was cancelled on the chain",
        "never_signed" => "it was stopped before it was signed",
        other => other,
    }
}
