//! A deposit for programs. The amount is a string: a JSON number is a double to most readers.

use bankroll_deposits::view::DepositView;
use bankroll_ledger::Amount;
use bankroll_terminal::{Assets, when};
use serde_json::{Value, json};

pub fn deposit_json(deposit: &DepositView, assets: &Assets) -> Value {
    let amount: Option<Amount> = deposit.amount.parse().ok();
    json!({
        "id": deposit.id.as_str(),
        "state": deposit.stage.as_str(),
        "reason": deposit.reason,
        "refusal": deposit.refusal,
        "chain": deposit.chain,
        "tx_hash": deposit.tx_hash,
        "amount": deposit.amount,
        "amount_decimal": amount.map(|amount| assets.decimal(deposit.asset, amount)),
        "symbol": assets.get(deposit.asset).map(|asset| &asset.symbol),
        "from": deposit.from,
        "to": deposit.to,
        "purpose": deposit.purpose.as_str(),
        "server": deposit.server,
        "player": deposit.wallet,
        "confirmations": deposit.confirmations,
        "required_confirmations": deposit.required,
        "block": { "number": deposit.block, "hash": deposit.block_hash },
        "epoch": deposit.epoch,
        "chain_state": deposit.chain_state.as_str(),
        "review_state": deposit.review_state.as_str(),
        "ledger_state": deposit.ledger_state.as_str(),
        "first_seen_at": when::show(deposit.first_seen_at),
        "updated_at": when::show(deposit.updated_at),
    })
}
