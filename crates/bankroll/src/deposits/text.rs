//! A deposit in words.

use std::fmt::{self, Write};

use bankroll_deposits::{DepositStage, Purpose, ReviewState, view::DepositView};
use bankroll_ledger::{Amount, AssetId};
use bankroll_terminal::{Assets, Paint, when};

/// The amount in coins; one that the ledger cannot count, in base units.
pub fn coins(raw: &str, asset: AssetId, assets: &Assets) -> String {
    let amount: Option<Amount> = raw.parse().ok();
    amount.map_or_else(|| format!("{raw} base units"), |amount| assets.with_symbol(asset, amount))
}

/// The state as a sentence without its full stop: `seen in block 12, 3 of 12 confirmations`.
pub fn state_words(deposit: &DepositView) -> String {
    let DepositView { block, confirmations, required, .. } = deposit;
    let have = confirmations.min(required);
    let why = deposit.reason.as_deref().map(reason_words);
    let words = match deposit.stage {
        DepositStage::Seen => format!("seen in block {block}, {have} of {required} confirmations"),
        DepositStage::Final => format!("seen in block {block}, final; the books credit it next"),
        DepositStage::Held => {
            let why = deposit.doubt.as_deref().map_or("a person held it", doubt_words);
            format!("seen in block {block}, held until people decide: {why}")
        }
        DepositStage::Refused if deposit.review_state == ReviewState::Refused => {
            format!("seen in block {block}, refused by people: nobody gets it")
        }
        DepositStage::Refused => {
            let refusal = deposit.refusal.as_deref().unwrap_or("no reason is recorded");
            format!("seen in block {block}, final; the books refused it: {refusal}")
        }
        DepositStage::Credited => match why {
            Some(why) => format!("seen in block {block}, final, credited; {why}"),
            None => format!("seen in block {block}, final, credited"),
        },
        DepositStage::Suspense if deposit.review_state == ReviewState::Refused => {
            format!("seen in block {block}, final, in suspense, refused by people")
        }
        DepositStage::Suspense => {
            format!("seen in block {block}, final, in suspense: {}", why.unwrap_or("no reason is recorded"))
        }
        DepositStage::Orphaned => format!("orphaned: block {block} is no longer on the chain; nothing was credited"),
        DepositStage::Reversed => {
            format!("reversed: block {block} is no longer on the chain; the credit was taken back")
        }
    };
    let is_dropped = deposit.ledger_state.is_booked() && !deposit.chain_state.is_canonical();
    if is_dropped { format!("{words}; the chain dropped it, and it is reversed next") } else { words }
}

/// Why it waits as it was seen.
fn doubt_words(code: &str) -> &str {
    match code {
        "amount_too_large" => "the ledger cannot count so much",
        "balance_unknown" => "no RPC node can say whether it arrived",
        "one_provider" => "one RPC node alone vouches for it",
        "balance_mismatch" => "the address received another amount",
        other => other,
    }
}

/// The stored reason for which a deposit is not a buy-in of its player.
fn reason_words(code: &str) -> &str {
    match code {
        "unknown_player" => "the sender was not a known player",
        "unknown_server" => "its game server is not configured",
        "wrong_amount" => "less than a buy-in, so it is unallocated",
        "server_paused" => "the server takes no buy-ins now, so it is unallocated",
        other => other,
    }
}

/// Everything about one deposit.
pub fn details(deposit: &DepositView, assets: &Assets, paint: Paint) -> Result<String, fmt::Error> {
    let mut text = String::new();
    let player = match (&deposit.wallet, &deposit.server) {
        (Some(wallet), Some(server)) => format!("{wallet} of {server}"),
        (Some(wallet), None) => wallet.clone(),
        (None, _) if deposit.purpose == Purpose::Treasury => "none: the operator's own capital".into(),
        (None, _) => "unknown".into(),
    };
    writeln!(text, "{}", paint.strong(&format!("deposit {}", deposit.id)))?;
    writeln!(text, "  state        {}", state_words(deposit))?;
    writeln!(
        text,
        "  amount       {}  ({} base units)",
        coins(&deposit.amount, deposit.asset, assets),
        deposit.amount
    )?;
    writeln!(text, "  from         {}", deposit.from)?;
    writeln!(text, "  to           {}", deposit.to)?;
    writeln!(text, "  player       {player}")?;
    writeln!(text, "  transaction  {}", deposit.tx_hash)?;
    writeln!(text, "  block        {} {}", deposit.block, deposit.block_hash)?;
    writeln!(text, "  first seen   {}", when::show(deposit.first_seen_at))?;
    if deposit.epoch > 1 {
        writeln!(text, "  inclusions   {}: the chain replaced its block", deposit.epoch)?;
    }
    Ok(text)
}
