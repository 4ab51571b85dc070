//! `bankroll withdrawals request`.

use bankroll_ledger::{Amount, Name};
use bankroll_orders::Address;
use bankroll_roles::requests::{BooksClient, PayoutOrder, RequestedPayout, request_payout};
use bankroll_terminal::{self as terminal, Assets, Paint, UsageError, invocation, parse_decimal};
use bankroll_withdrawals::{GasPayer, IntentStatus};
use clap::Args;
use serde_json::json;

use crate::location::{ChainBooks, LocationArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll withdrawals request --dir casino --id leave-1 --amount 0.009 \\
    --player 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  ... --max-fee 0.001      the player pays the gas, at most this much
  ... --to 0x7099...79C8   to another address than the player's own

The amount is held at once, and paid once: the same id again returns the same
payout. More than chain.pay_at_once waits for an approval. Without --max-fee
the house pays the gas, from its own capital (chain.treasury).")]
pub struct WithdrawalRequestArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Your own name for this request: it is paid once, however often you repeat it
    #[arg(long, value_name = "NAME")]
    id: Name,
    /// The player whose funds are paid out
    #[arg(long, value_name = "ADDRESS")]
    player: Address,
    /// The amount that arrives, in coins
    #[arg(long, value_name = "AMOUNT")]
    amount: String,
    /// The address that receives it [default: the player's]
    #[arg(long, value_name = "ADDRESS")]
    to: Option<Address>,
    /// The most that the player pays for gas, in coins [default: the house pays]
    #[arg(long, value_name = "AMOUNT")]
    max_fee: Option<String>,
}

pub fn run(args: &WithdrawalRequestArgs, json: bool) -> anyhow::Result<()> {
    let books = args.location.with_chain()?;
    let order = PayoutOrder {
        request_id: args.id.clone(),
        player: args.player,
        to: args.to.unwrap_or(args.player),
        amount: coins(&args.amount, "--amount", &books)?,
        gas: match &args.max_fee {
            Some(most) => GasPayer::Player(coins(most, "--max-fee", &books)?),
            None => GasPayer::House,
        },
    };
    let client = BooksClient::connect(&books.loaded)?;
    let requested = request_payout(&client, &books.reader, &books.setup, books.asset, &order);
    client.close();
    let payout = requested?;
    if json {
        let RequestedPayout { id, status, is_repeated } = &payout;
        return terminal::answer_json(&json!({
            "id": id.to_string(), "status": status.as_str(), "repeated": is_repeated, "to": order.to,
            "amount": order.amount,
        }));
    }
    terminal::answer(&text(&payout, &order, &books, args)?)
}

/// An amount that is not zero.
fn coins(text: &str, flag: &str, books: &ChainBooks) -> Result<Amount, UsageError> {
    let wrong = |why: String| UsageError(format!("{flag} {text}: {why}"));
    match parse_decimal(text, books.setup.coin.decimals).map_err(wrong)? {
        Amount::ZERO => Err(wrong("the amount must be more than 0".into())),
        amount => Ok(amount),
    }
}

fn text(
    payout: &RequestedPayout,
    order: &PayoutOrder,
    books: &ChainBooks,
    args: &WithdrawalRequestArgs,
) -> anyhow::Result<String> {
    let amount = Assets::new(books.reader.assets()?).with_symbol(books.asset, order.amount);
    let verb = if payout.is_repeated { "already requested" } else { "requested" };
    let next = match payout.status {
        IntentStatus::AwaitingApproval => "  it is above chain.pay_at_once and waits for an approval\n",
        _ => "",
    };
    Ok(format!(
        "{} {}\n  {amount} to {}\n{next}\nNext:\n  {} withdrawals show {} --dir {}\n",
        Paint::stdout().good(verb),
        payout.id,
        order.to,
        invocation(),
        payout.id,
        args.location.base().display(),
    ))
}
