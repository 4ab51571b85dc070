//! `bankroll reconcile`: what each wallet holds on its chain, and what the books say. Reads only.

use bankroll_ledger::{Amount, AssetId, Name};
use bankroll_roles::{
    flows::FlowSetup,
    reconciliation::{BalanceDifference, BalanceTerms, ChainComparison, ReconciledWallet, WalletBalance, compare},
};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Assets, Exit, NotFound, Paint, table, thousands};
use clap::Args;
use serde_json::{Value, json};

use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll reconcile --dir casino
  bankroll reconcile --chain eip155:1 --dir casino
  bankroll reconcile --at 21000000 --dir casino      an older block: where did it begin?
  bankroll reconcile --json

A wallet should hold what its account says, and what is on its way: deposits that
are not booked yet, payouts that are mined and not booked yet, and so on. Each is
a line. What no line explains is the difference: exit code 4. It is asked of
every RPC node at the block that the indexer has read, while a node runs or not.
For an older block the RPC node must still have its state.")]
pub struct ReconcileArgs {
    /// Only this chain: eip155:1 [default: every chain of the configuration]
    #[arg(long, value_name = "CHAIN")]
    chain: Option<Name>,
    /// An older block than the one that the indexer has read
    #[arg(long, value_name = "BLOCK")]
    at: Option<u64>,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &ReconcileArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.location.reader()?;
    let loaded = args.location.load()?;
    let mut chains = loaded.chains();
    if let Some(chain) = &args.chain {
        chains.retain(|setup| setup.chain() == chain);
    }
    if chains.is_empty() {
        let message = match &args.chain {
            Some(chain) => format!("there is no chain {chain} in the configuration; `bankroll config show` shows all"),
            None => format!("no chain is configured in {}; set chain.rpc", args.location.base().display()),
        };
        return Err(NotFound(message).into());
    }
    let (assets, now) = (Assets::new(reader.assets()?), Clock::machine().now());
    let (mut exit, mut shown, mut text) = (Exit::Ok, Vec::new(), String::new());
    for setup in &chains {
        let Some(found) = compare(setup, &reader, args.at, now)? else {
            text += &format!("{}: the indexer has read no block yet, or the books change too fast\n", setup.chain());
            shown.push(json!({ "chain": setup.chain(), "block": null, "wallets": [] }));
            continue;
        };
        exit = match (exit, found.differs(), found.is_unknown()) {
            (Exit::Unsound, ..) | (_, true, _) => Exit::Unsound,
            (Exit::Failed, ..) | (_, _, true) => Exit::Failed,
            _ => Exit::Ok,
        };
        text += &chain_text(setup, &found, &assets);
        shown.push(chain_json(setup, &found));
    }
    if json {
        terminal::answer_json(&json!({ "chains": shown }))?;
    } else {
        terminal::answer(&text)?;
    }
    Ok(exit)
}

fn chain_text(setup: &FlowSetup, found: &ChainComparison, assets: &Assets) -> String {
    let mut text = format!("{} at block {}\n", setup.chain(), thousands(found.block));
    for (wallet, balance) in &found.wallets {
        let symbol = assets.get(wallet.asset).map_or_else(|| wallet.asset.0.to_string(), |asset| asset.symbol.clone());
        text += &format!("\nwallet {} ({}), {symbol}\n", wallet.name, wallet.address);
        match balance {
            Ok(balance) => text += &lines(wallet.asset, balance, assets),
            Err(unknown) => text += &format!("{}\n", Paint::stdout().bad(&format!("not known: {unknown}"))),
        }
    }
    text
}

/// From what the books say to what the wallet holds, line by line.
fn lines(asset: AssetId, balance: &WalletBalance, assets: &Assets) -> String {
    let amount = |text: String| match text.parse::<u128>() {
        Ok(units) => assets.decimal(asset, Amount::new(units)),
        Err(_) => format!("{text} base units"),
    };
    let mut lines = table(&["", "", "amount"], &[2]);
    let terms = &balance.terms;
    lines.add_row(["", "the books say", &amount(terms.in_books.to_string())]);
    for (words, is_added, term) in terms.explained() {
        lines.add_row([if is_added { "+" } else { "-" }, words, &amount(term.to_string())]);
    }
    let (sign, difference, words) = match balance.difference() {
        BalanceDifference::None => ("", None, "no difference"),
        BalanceDifference::Surplus(more) => ("+", Some(more.to_string()), "DIFFERENCE: more than it should"),
        BalanceDifference::Deficit(less) => ("-", Some(less.to_string()), "DIFFERENCE: less than it should"),
    };
    lines.add_row([sign, words, &difference.map(amount).unwrap_or_default()]);
    lines.add_row(["=", "the wallet holds", &amount(balance.on_chain.to_string())]);
    format!("{lines}\n")
}

fn chain_json(setup: &FlowSetup, found: &ChainComparison) -> Value {
    let wallets: Vec<Value> = found.wallets.iter().map(wallet_json).collect();
    json!({
        "chain": setup.chain(), "block": found.block, "block_hash": found.block_hash, "wallets": wallets,
    })
}

/// Amounts are in base units, as text.
fn wallet_json((wallet, balance): &ReconciledWallet) -> Value {
    let mut shown = json!({
        "wallet": wallet.address.to_string(), "name": wallet.name, "asset": wallet.asset.0,
        "terms": terms_json(&wallet.terms),
    });
    match balance {
        Ok(balance) => {
            shown["on_chain"] = balance.on_chain.to_string().into();
            shown["difference"] = balance.difference().signed().into();
        }
        Err(unknown) => shown["unknown"] = unknown.to_string().into(),
    }
    shown
}

fn terms_json(terms: &BalanceTerms) -> Value {
    let of = |amount: &dyn std::fmt::Display| Value::from(amount.to_string());
    json!({
        "in_books": of(&terms.in_books), "unbooked": of(&terms.unbooked), "held": of(&terms.held),
        "moved_in": of(&terms.moved_in), "moved_out": of(&terms.moved_out), "unreversed": of(&terms.unreversed),
        "unsettled": of(&terms.unsettled), "unsettled_gas": of(&terms.unsettled_gas),
        "settled_elsewhere": of(&terms.settled_elsewhere), "came_after": of(&terms.came_after),
        "left_after": of(&terms.left_after),
    })
}
