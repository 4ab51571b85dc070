//! `bankroll chain pay`: sends coins over JSON-RPC, signed here with a test key or with a key from a file.
//!
//! Guarantees: the amount is exact; a public test key signs for test chains only; the transaction's hash is known
//! before it is sent, so an answer that is lost leaves a question that can be answered, not a second payment.

use std::{
    path::PathBuf,
    str::FromStr,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use bankroll_chains_evm::{
    Address, B256, BlockTag, Bytes, Call, ChainIdentity, Fees, FindOutcome, Quantity, RpcError, RpcLimits, RpcNode,
    SendOutcome, transaction_hash,
};
use bankroll_chains_simulated::{Payment, SimulatedKey, U256};
use bankroll_ledger::Amount;
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, UsageError, counted, invocation, thousands};
use clap::Args;
use serde_json::json;

use super::{
    coins,
    test_accounts::{self, TEST_CHAINS},
};

/// The pause between two looks for the block.
const POLL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll chain pay --to 0x52908400098527886E0F7030069857D2E4169EE7 --amount 0.01035
  bankroll chain pay --from 3 --to ADDRESS --amount 5 --wait 12
  bankroll chain pay --rpc http://127.0.0.1:18545 --key-file key.txt --to ADDRESS --amount 1

Without --key-file the coins come from a test account of `bankroll chain` or of
anvil, which everybody has the keys of: only on a test chain (id 31337 or 1337).
A key file has one key, as 64 hexadecimal digits.

--wait 1 waits for the transaction's block, --wait 12 for twelve confirmations.
With `bankroll chain --block-time 0` a block is made by the call evm_mine.")]
pub struct PayArgs {
    /// The chain's RPC node
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8545")]
    rpc: String,
    /// A test account: its number from 0 to 9, or its address
    #[arg(long, value_name = "NUMBER|ADDRESS", default_value = "0", allow_negative_numbers = true)]
    from: Sender,
    /// The address that gets the coins
    #[arg(long, value_name = "ADDRESS")]
    to: Address,
    /// How much, in coins: 0.01035
    #[arg(long, value_name = "COINS", value_parser = coins::parse, allow_negative_numbers = true)]
    amount: Amount,
    /// Wait until the transaction has so many confirmations; its own block is the first
    #[arg(long, value_name = "CONFIRMATIONS", value_parser = terminal::whole::<u64>(1..=10_000, "the number of confirmations"))]
    wait: Option<u64>,
    /// The longest time to wait
    #[arg(
        long, value_name = "SECONDS", default_value_t = 120, requires = "wait",
        value_parser = terminal::whole::<u64>(0..=86_400, "the seconds")
    )]
    timeout: u64,
    /// The seed of the chain, if it was started with one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = terminal::whole::<u64>(0..=u64::MAX, "the seed"))]
    seed: u64,
    /// Sign with the key in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "seed"])]
    key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    Number(u64),
    Address(Address),
}

impl FromStr for Sender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("0x") {
            return text.parse().map(Self::Address).map_err(|error: <Address as FromStr>::Err| error.to_string());
        }
        let number = text.parse().ok().filter(|number| *number < test_accounts::COUNT);
        number.map(Self::Number).ok_or_else(|| "a test account is a number from 0 to 9, or an address".to_owned())
    }
}

pub fn run(args: &PayArgs, json: bool) -> anyhow::Result<Exit> {
    if args.to == Address::ZERO {
        return Err(UsageError("--to is the zero address, which has no key: the coins would be lost".into()).into());
    }
    let limits = RpcLimits::default();
    let identity = ChainIdentity::discover(&args.rpc, limits).map_err(|error| UsageError(format!("--rpc: {error}")))?;
    let identity =
        identity.with_context(|| format!("no chain answers at {}; `bankroll chain` starts one", shown(&args.rpc)))?;
    let node = RpcNode::http(&args.rpc, identity, limits).map_err(|error| UsageError(format!("--rpc: {error}")))?;
    let key = key(args, &node)?;
    let from = Address(key.address().into_array());
    let (raw, nonce) = sign(args, &node, &key)?;
    let hash = transaction_hash(&raw);
    send(&node, &raw, hash)?;
    if !json {
        let amount = counted_coins(U256::from(args.amount.units()));
        let sent = Paint::stdout().good("sent");
        terminal::answer(&format!("{sent} {amount}\n  from {from}\n  to   {}\ntransaction {hash}", args.to))?;
    }
    let block = args.wait.map(|confirmations| wait(args, confirmations, &node, hash)).transpose()?;
    if json {
        terminal::answer_json(&json!({
            "transaction": hash.to_string(), "from": from, "to": args.to, "amount": args.amount,
            "chain_id": identity.chain_id, "nonce": nonce,
            "block": block.map(|(number, have)| json!({ "number": number, "confirmations": have })),
        }))?;
        return Ok(Exit::Ok);
    }
    let block = block.map_or_else(String::new, |(number, have)| {
        format!("in block {number}, with {}\n", counted(have, "confirmation", "confirmations"))
    });
    terminal::answer(&format!(
        "{block}\nWhat became of it in the books:\n  {} explain {hash} --dir DIR",
        invocation()
    ))?;
    Ok(Exit::Ok)
}

/// The URL of a node on this machine; other URLs may contain a key.
fn shown(url: &str) -> &str {
    let host = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let is_local = |host: &str| {
        let port = host.strip_prefix("127.0.0.1:").or_else(|| host.strip_prefix("localhost:"));
        port.is_some_and(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
    };
    if host.is_some_and(is_local) { url } else { "--rpc" }
}

/// `1 coin`, `0.5 coins`, `1,000,000 coins`.
fn counted_coins(wei: U256) -> String {
    let text = grouped(wei);
    match text.as_str() {
        "1" => "1 coin".to_owned(),
        in_wei if in_wei.ends_with("wei") => text,
        _ => format!("{text} coins"),
    }
}

/// The number of coins with separated thousands: `1,000,000.5`.
fn grouped(wei: U256) -> String {
    let text = coins::of_wei(wei);
    let (whole, fraction) = text.find('.').map_or((text.as_str(), ""), |point| text.split_at(point));
    whole.parse::<u64>().map_or_else(|_| text.clone(), |whole| format!("{}{fraction}", thousands(whole)))
}

fn key(args: &PayArgs, node: &RpcNode) -> anyhow::Result<SimulatedKey> {
    let chain_id = node.identity().chain_id;
    let is_test_chain = TEST_CHAINS.contains(&chain_id);
    let Some(file) = &args.key_file else {
        if is_test_chain {
            return test_key(args, node);
        }
        let why = format!(
            "the node is on chain {chain_id}, which is not a test chain (31337, 1337): everybody has the keys of the \
             test accounts; sign with your own by --key-file FILE"
        );
        return Err(UsageError(why).into());
    };
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let wrong = || UsageError(format!("{} must have one key: 64 hexadecimal digits", file.display()));
    let key = test_accounts::parse(text.trim()).ok_or_else(wrong)?;
    let address = key.address();
    if !is_test_chain && test_accounts::keys(args.seed).any(|(_, public)| public.address() == address) {
        let why = format!(
            "{} has the key of the test account {address}, which everybody knows; chain {chain_id} is not a test \
             chain (31337, 1337)",
            file.display()
        );
        return Err(UsageError(why).into());
    }
    Ok(key)
}

/// The test account that has coins here: numbers mean one account on a simulated chain, and another on anvil.
fn test_key(args: &PayArgs, node: &RpcNode) -> anyhow::Result<SimulatedKey> {
    let is_meant = |number: u64, key: &SimulatedKey| match args.from {
        Sender::Number(meant) => number == meant,
        Sender::Address(meant) => key.address().into_array() == meant.0,
    };
    let meant: Vec<SimulatedKey> =
        test_accounts::keys(args.seed).filter(|(number, key)| is_meant(*number, key)).map(|(_, key)| key).collect();
    for key in &meant {
        let balance = node.balance(Address(key.address().into_array()), BlockTag::Latest);
        if !balance.context("the balance of the test account is unknown")?.is_zero() {
            return Ok(key.clone());
        }
    }
    let hint = "with `bankroll chain --seed N` give --seed N, too; for another account, --key-file FILE";
    Err(match args.from {
        Sender::Address(address) if meant.is_empty() => {
            NotFound(format!("{address} is not a test account of seed {} or of anvil; {hint}", args.seed)).into()
        }
        Sender::Address(address) => anyhow!("the test account {address} has no coins on this chain; {hint}"),
        Sender::Number(number) => anyhow!("test account {number} has no coins on this chain; {hint}"),
    })
}

fn sign(args: &PayArgs, node: &RpcNode, key: &SimulatedKey) -> anyhow::Result<(Bytes, u64)> {
    let from = Address(key.address().into_array());
    let value = Quantity::from(args.amount);
    let balance = node.balance(from, BlockTag::Latest).context("the sender's balance is unknown")?;
    if balance < value {
        bail!("{from} has {}, fewer than {}", counted_coins(balance.units()), grouped(value.units()));
    }
    let call = Call { from, to: args.to, value, input: Bytes::new() };
    let gas = node.estimate_gas(&call).context("the payment would fail")?;
    let nonce = node.pending_nonce(from).context("the sender's nonce is unknown")?;
    let payment = Payment::new(node.identity().chain_id, nonce, args.to.0.into(), value.units());
    let payment = Payment { gas, ..payment };
    let raw = match node.fees().context("the price of gas is unknown")? {
        Fees::Market { base_fee, tip } => {
            // Enough for six full blocks in a row, after which the base fee has doubled.
            let tip = tip.max(1);
            key.sign(&payment.paying(base_fee.saturating_mul(2).saturating_add(tip), tip))
        }
        Fees::Legacy { gas_price } => key.sign_legacy(&payment.paying(gas_price, 0)),
    };
    Ok((raw, nonce))
}

fn send(node: &RpcNode, raw: &Bytes, hash: B256) -> anyhow::Result<()> {
    match node.send(raw) {
        SendOutcome::Accepted | SendOutcome::AlreadyKnown => Ok(()),
        SendOutcome::NonceTooLow => {
            bail!("another transaction of this account was faster; nothing was paid, try again")
        }
        SendOutcome::Underpriced(why) | SendOutcome::Refused(why) => Err(why).context("the node refused the payment"),
        SendOutcome::Unknown(error) => Err(error).with_context(|| {
            format!("the node may have the payment or not: look for transaction {hash} before you pay again")
        }),
    }
}

/// The block of the transaction and its confirmations, once they are enough.
fn wait(args: &PayArgs, wanted: u64, node: &RpcNode, hash: B256) -> anyhow::Result<(u64, u64)> {
    let deadline = Instant::now() + Duration::from_secs(args.timeout);
    loop {
        let found = found(node, hash);
        match found {
            Ok(Some(found)) if !found.succeeded => {
                bail!("the payment failed in block {}: the receiver is a contract that refuses it", found.block)
            }
            Ok(Some(found)) if found.confirmations >= wanted => return Ok((found.block, found.confirmations)),
            _ => {}
        }
        if Instant::now() < deadline {
            thread::sleep(POLL);
            continue;
        }
        match found.with_context(|| format!("it is unknown whether {hash} is in a block"))? {
            None => bail!(
                "{hash} is not in a block after {} s; does the chain make blocks? with --block-time 0 only on command: \
                 evm_mine",
                args.timeout
            ),
            Some(FoundPayment { block, confirmations, .. }) => bail!(
                "{hash} is in block {block} and has {confirmations} of {wanted} confirmations after {} s; \
                 raise --timeout",
                args.timeout
            ),
        }
    }
}

struct FoundPayment {
    block: u64,
    confirmations: u64,
    succeeded: bool,
}

/// `None` while it is in no block.
fn found(node: &RpcNode, hash: B256) -> Result<Option<FoundPayment>, RpcError> {
    let FindOutcome::Included(block) = node.find(hash)? else { return Ok(None) };
    let succeeded = block.transaction(hash).is_some_and(|transaction| transaction.succeeded);
    let head = node.header(BlockTag::Latest)?.map_or(0, |head| head.number);
    Ok(Some(FoundPayment { block: block.header.number, confirmations: block.header.confirmations(head), succeeded }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_counted_exactly() {
        let check = |text: &str, expected: &str| {
            assert_eq!(counted_coins(U256::from(coins::parse(text).unwrap().units())), expected);
        };
        check("1", "1 coin");
        check("0.01035", "0.01035 coins");
        check("1000000.5", "1,000,000.5 coins");
        assert_eq!(counted_coins(U256::MAX), format!("{} wei", U256::MAX));
    }

    #[test]
    fn only_the_url_of_a_node_on_this_machine_is_shown() {
        assert_eq!(shown("http://127.0.0.1:8545"), "http://127.0.0.1:8545");
        for secret in ["https://node.example/key", "http://127.0.0.1:8545/key", "http://me:key@127.0.0.1:8545"] {
            assert_eq!(shown(secret), "--rpc");
        }
    }

    #[test]
    fn a_sender_is_a_number_or_an_address() {
        assert_eq!("0".parse(), Ok(Sender::Number(0)));
        assert_eq!("9".parse(), Ok(Sender::Number(9)));
        let lower = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
        assert_eq!(lower.parse::<Sender>(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse());
        let refused = |text: &str, why: &str| assert!(text.parse::<Sender>().unwrap_err().contains(why), "{text}");
        refused("10", "from 0 to 9");
        refused("-1", "from 0 to 9");
        refused("alice", "from 0 to 9");
        refused("0xf39f", "0x and 40 hexadecimal digits");
        refused("0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "checksum");
    }
}
