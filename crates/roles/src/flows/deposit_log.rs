//! What the log says about a deposit: `deposit <transaction>: <amount> is ...`, one line for each step of its way.
//!
//! | event | the deposit |
//! | --- | --- |
//! | `deposit_included` | is in a block |
//! | `deposit_final` | is deep enough to be booked |
//! | `deposit_orphaned` | is no longer on the chain |
//! | `deposit_credited` | is credited: to its player, or to the house if the treasury sent it |
//! | `deposit_suspended` | is booked in suspense, and the line says why |
//! | `deposit_reversed` | is no longer booked |
//! | `deposit_unproven` | has a row that the scanner's log does not prove: nothing is done about it |
//! | `nonce_unexplained` | none: the node hides a transaction of our wallet, or counts wrongly |
//! | `transfer_ignored` | was logged or traced, and did not arrive |

use bankroll_deposits::{
    BookedDeposit, BookingOutcome, ChainProgress, DepositChange, DepositId, Doubt, Purpose, ScanNotice,
    UnexplainedNonce,
};
use bankroll_terminal::Assets;
use serde_json::Value;

use crate::log::NodeLog;

type LogFields = Vec<(&'static str, Value)>;

/// What the indexer saw on the chain.
pub fn write_seen(log: &NodeLog, assets: &Assets, changes: &[DepositChange]) {
    for change in changes {
        let event = match change.progress {
            ChainProgress::Included { .. } => "deposit_included",
            ChainProgress::Final => "deposit_final",
            ChainProgress::Orphaned => "deposit_orphaned",
        };
        log.write_each(event, || {
            let amount = change.value.amount();
            let shown = amount.map_or_else(
                |_| format!("{} base units", change.value),
                |amount| assets.with_symbol(change.asset, amount),
            );
            let sentence = sentence(&change.id, &shown, &seen(change));
            (sentence, fields(&change.id, change.epoch, &change.value.to_string()))
        });
    }
}

/// What the books did.
pub fn write_booked(log: &NodeLog, assets: &Assets, booked: &BookingOutcome) {
    let credited = booked.credited.iter().map(|deposit| ("deposit_credited", deposit, credited(deposit)));
    let suspended = booked.suspended.iter().map(|deposit| ("deposit_suspended", deposit, suspended(deposit)));
    let reversed = booked.reversed.iter().map(|deposit| ("deposit_reversed", deposit, REVERSED.to_owned()));
    for (event, deposit, what) in credited.chain(suspended).chain(reversed) {
        log.write_each(event, || {
            let mut fields = fields(&deposit.id, deposit.epoch, &deposit.amount.to_string());
            fields.push(("from", deposit.from.as_str().into()));
            if let Some(wallet) = &deposit.wallet {
                fields.push(("player", wallet.as_str().into()));
            }
            if let Some(reason) = deposit.reason {
                fields.push(("reason", reason.into()));
            }
            (sentence(&deposit.id, &assets.with_symbol(deposit.asset, deposit.amount), &what), fields)
        });
    }
}

const REVERSED: &str = "is reversed in the books: the chain dropped it";

fn sentence(id: &DepositId, amount: &str, what: &str) -> String {
    format!("deposit {}: {amount} {what}", id.transaction())
}

fn fields(id: &DepositId, epoch: u64, base_units: &str) -> LogFields {
    vec![("deposit", id.to_string().into()), ("epoch", epoch.into()), ("amount", base_units.into())]
}

fn seen(change: &DepositChange) -> String {
    match change.progress {
        ChainProgress::Included { from, doubt: Some(doubt), block, .. } => {
            format!("from {} is in block {block}, {}", from.lower_hex(), doubted(doubt))
        }
        ChainProgress::Included { from, purpose: Purpose::Internal, block, .. } => {
            format!("from {} is in block {block}: between our own wallets, not a deposit", from.lower_hex())
        }
        ChainProgress::Included { from, block, final_at, .. } => {
            format!("from {} is in block {block}, final at block {final_at}", from.lower_hex())
        }
        ChainProgress::Final => "is final".to_owned(),
        ChainProgress::Orphaned => "is no longer on the chain".to_owned(),
    }
}

/// Why a person must look.
const fn doubted(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::TooLarge => "and held: the ledger cannot count it",
        Doubt::BalanceMismatch => "and goes to suspense: the address received another amount than the transfer says",
        Doubt::BalanceUnknown => "and held: the node cannot say whether it arrived",
        Doubt::OneProvider => "and held: so much needs the word of more providers than the chain has",
    }
}

/// What was seen and credits nothing.
pub fn write_notices(log: &NodeLog, notices: &[ScanNotice]) {
    for notice in notices {
        let (transaction, sentence) = match notice {
            ScanNotice::Nonce(nonce) => {
                let UnexplainedNonce { wallet, block, hidden } = nonce;
                let sentence = format!(
                    "the RPC node counts {hidden} more of the transactions of wallet {wallet} up to block {block} than \
                     its blocks have"
                );
                log.write("nonce_unexplained", &sentence, &[("wallet", wallet.to_string().into())]);
                continue;
            }
            ScanNotice::Odd(odd) => (
                odd.transaction,
                format!("token {} logged a transfer that cannot be read; nothing is credited by it", odd.token),
            ),
            ScanNotice::Absent(absent) => (
                absent.transaction,
                format!(
                    "a transfer of {} base units to {} did not arrive; nothing is credited",
                    absent.claimed, absent.to
                ),
            ),
        };
        let transaction = format!("{transaction:#x}");
        let fields = [("transaction", transaction.as_str().into())];
        log.write("transfer_ignored", &format!("transaction {transaction}: {sentence}"), &fields);
    }
}

/// Deposits whose rows the scanner's log does not prove.
pub fn write_unproven(log: &NodeLog, booked: &BookingOutcome) {
    for (id, fault) in &booked.unproven {
        let sentence = format!("deposit {id} is left as it is: {fault}; run `bankroll audit`");
        log.write("deposit_unproven", &sentence, &[("deposit", id.to_string().into())]);
    }
}

fn credited(deposit: &BookedDeposit) -> String {
    let player = match (&deposit.purpose, &deposit.wallet) {
        (Some(Purpose::Treasury), _) | (_, None) => return "is credited to the house: the treasury sent it".to_owned(),
        (_, Some(wallet)) => wallet,
    };
    let server = deposit.server.as_ref().map_or("the server", |server| server.as_str());
    match deposit.reason {
        None => format!("is credited to player {player}"),
        Some("wrong_amount") => format!("is credited to player {player} as unallocated: less than a buy-in"),
        Some("server_paused") => {
            format!("is credited to player {player} as unallocated: {server} accepts no buy-ins now")
        }
        Some(reason) => format!("is credited to player {player} as unallocated: {reason}"),
    }
}

fn suspended(deposit: &BookedDeposit) -> String {
    let (from, server) = (&deposit.from, deposit.server.as_ref());
    match deposit.reason {
        Some("unknown_player") => format!(
            "is in suspense: {from} was not a known player when it became final; `bankroll deposits \
             assign` gives it to a player. For later payments the player signs in with that wallet: bankroll players \
             sign-in"
        ),
        Some("unknown_server") => {
            let server = server.map_or_else(|| "no server".to_owned(), |server| format!("unknown server {server}"));
            format!("is in suspense: {server} (check server.name)")
        }
        reason => format!("is in suspense: {}", reason.unwrap_or("no player")),
    }
}

#[cfg(test)]
mod tests {
    use bankroll_ledger::{Amount, Asset, AssetId};

    use super::*;

    const WALLET: &str = "0x00000000000000000000000000000000000000b0";

    fn deposit(purpose: Purpose, reason: Option<&'static str>) -> BookedDeposit {
        let chain = "eip155:7".parse().expect("a name");
        let hash = bankroll_chains_evm::B256::repeat_byte(0xd1);
        BookedDeposit {
            id: DepositId::new(&chain, hash, bankroll_deposits::DepositKind::Native, 0),
            epoch: 1,
            asset: AssetId(1),
            amount: Amount::new(10_350_000_000_000_000),
            from: WALLET.to_owned(),
            purpose: Some(purpose),
            server: Some("arena".parse().expect("a name")),
            wallet: (purpose == Purpose::Player).then(|| WALLET.parse().expect("a name")),
            reason,
        }
    }

    #[test]
    fn the_log_says_where_the_money_of_a_deposit_is() {
        let check = |said: String, expected: &str| assert_eq!(said, expected);
        check(
            suspended(&deposit(Purpose::Unknown, Some("unknown_player"))),
            &format!(
                "is in suspense: {WALLET} was not a known player when it became final; `bankroll deposits assign` \
                 gives it to a player. For later payments the player signs in with that wallet: bankroll players \
                 sign-in"
            ),
        );
        check(
            suspended(&deposit(Purpose::Player, Some("unknown_server"))),
            "is in suspense: unknown server arena (check server.name)",
        );
        check(credited(&deposit(Purpose::Player, None)), &format!("is credited to player {WALLET}"));
        check(
            credited(&deposit(Purpose::Player, Some("wrong_amount"))),
            &format!("is credited to player {WALLET} as unallocated: less than a buy-in"),
        );
        check(
            credited(&deposit(Purpose::Player, Some("server_paused"))),
            &format!("is credited to player {WALLET} as unallocated: arena accepts no buy-ins now"),
        );
        check(credited(&deposit(Purpose::Treasury, None)), "is credited to the house: the treasury sent it");
    }

    #[test]
    fn a_line_begins_with_the_transaction_and_the_amount_in_coins() {
        let deposit = deposit(Purpose::Player, None);
        let coin = Asset {
            chain: "eip155:7".parse().expect("a name"),
            unit: bankroll_ledger::Unit::Native,
            decimals: 18,
            symbol: "ETH".into(),
        };
        let assets = Assets::new([(AssetId(1), coin)]);
        assert_eq!(
            sentence(&deposit.id, &assets.with_symbol(deposit.asset, deposit.amount), "is final"),
            format!("deposit 0x{}: 0.01035 ETH is final", "d1".repeat(32)),
        );
    }
}
