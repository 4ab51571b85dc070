//! The arguments of `bankroll registry ... add`, and the body of the request that they become.

use bankroll_ledger::{Amount, Name, Time};
use bankroll_orders::{Address, ExtendedPublicKey};
use bankroll_terminal::{self as terminal, whole};
use clap::Args;
use serde_json::json;

use super::NewEntry;
use crate::funds_call::{OwnerArgs, RetryArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry chains add eip155:1 --label Ethereum --dir casino")]
pub struct ChainAddArgs {
    /// eip155: and the chain id
    #[arg(value_name = "CHAIN")]
    name: Name,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    label: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry assets add ETH --chain eip155:1 --decimals 18 --dir casino
  bankroll registry assets add USDC --chain eip155:1 --decimals 6 \\
    --token 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 --dir casino")]
pub struct AssetAddArgs {
    /// The symbol that people know it by
    #[arg(value_name = "SYMBOL")]
    symbol: String,
    /// The chain that it is on
    #[arg(long, value_name = "CHAIN")]
    chain: Name,
    /// The digits after the point in one coin
    #[arg(long, value_name = "N", value_parser = whole::<u8>(0..=36, "the number of decimals"))]
    decimals: u8,
    /// The contract of a token [default: the chain's coin]
    #[arg(long, value_name = "ADDRESS")]
    token: Option<Address>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "bankroll registry wallets add <NAME> --chain <CHAIN> --address <ADDRESS>\n        --role <ROLE> [OPTIONS]"
)]
#[command(after_help = "\
Examples:
  bankroll registry wallets add hot-2 --chain eip155:1 --role hot \\
    --address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino")]
pub struct WalletAddArgs {
    /// Its name in the books
    #[arg(value_name = "NAME")]
    name: Name,
    /// The chain that it is on
    #[arg(long, value_name = "CHAIN")]
    chain: Name,
    /// Its address
    #[arg(long, value_name = "ADDRESS")]
    address: Address,
    /// What it is for
    #[arg(long, value_name = "ROLE", value_parser = ["hot", "deposit", "warm", "cold"])]
    role: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry custody-keys add main --xpub xpub6C... --dir casino
  bankroll registry custody-keys add hot-2 --dir casino \\
    --address 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

`bankroll keys xpub` prints the extended public key of an account.")]
pub struct CustodyKeyAddArgs {
    /// Its name
    #[arg(value_name = "ID")]
    name: Name,
    /// The extended public key of an account
    #[arg(long, value_name = "XPUB", required_unless_present = "address", value_parser = xpub)]
    xpub: Option<ExtendedPublicKey>,
    /// The address of a single key
    #[arg(long, value_name = "ADDRESS")]
    address: Option<Address>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "bankroll registry server-keys add <ADDRESS> --server <NAME>\n        \
    --chain <CHAIN> --asset <N> --custody-key <ID> --buy-in-min <UNITS>\n        \
    --buy-in-max <UNITS> --developer-bps-max <BPS> --world-bps-max <BPS>\n        [OPTIONS]")]
#[command(after_help = "\
Examples:
  bankroll registry server-keys add --server arena --dir casino \\
    0x70997970C51812dc3A010C7d01b50e0d17dc79C8 \\
    --chain eip155:1 --asset 1 --custody-key main \\
    --buy-in-min 1 --buy-in-max 1000000000000000000 \\
    --developer-bps-max 500 --world-bps-max 500

`bankroll keys auth FILE` makes such a key and prints its address. The server
then registers with it: `bankroll servers register`.")]
pub struct ServerKeyAddArgs {
    /// The address of the key
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// The game server that it acts for
    #[arg(long, value_name = "NAME")]
    server: Name,
    /// The chain of the server
    #[arg(long, value_name = "CHAIN")]
    chain: Name,
    /// The number of the server's asset
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=4_294_967_295, "the number of an asset"))]
    asset: u32,
    /// The custody key that the server's deposit address comes from
    #[arg(long, value_name = "ID")]
    custody_key: Name,
    /// The least buy-in that it may register, in base units
    #[arg(long, value_name = "UNITS")]
    buy_in_min: Amount,
    /// The largest buy-in, in base units
    #[arg(long, value_name = "UNITS")]
    buy_in_max: Amount,
    /// The largest fee of the developer, in hundredths of a percent
    #[arg(long, value_name = "BPS", value_parser = whole::<u32>(0..=10_000, "a fee"))]
    developer_bps_max: u32,
    /// The largest fee of the world, in hundredths of a percent
    #[arg(long, value_name = "BPS", value_parser = whole::<u32>(0..=10_000, "a fee"))]
    world_bps_max: u32,
    /// What it may take from players in a minute, in base units [default: no limit]
    #[arg(long, value_name = "UNITS")]
    spend_limit: Option<Amount>,
    /// It is good until this time (RFC 3339) [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = terminal::when::parse)]
    valid_until: Option<Time>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry treasury add --chain eip155:1 --label bank --dir casino \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

A payment from this address is the operator's capital, not a deposit.")]
pub struct TreasuryAddArgs {
    /// The address that pays
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// The chain that it pays on
    #[arg(long, value_name = "CHAIN")]
    chain: Name,
    /// A name for people
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

macro_rules! new_entry {
    ($args:ty, |$of:ident| $body:expr) => {
        impl $args {
            pub(super) fn entry(&self) -> NewEntry<'_> {
                let $of = self;
                NewEntry { body: $body, retry: &self.retry, owner: &self.owner }
            }
        }
    };
}

new_entry!(ChainAddArgs, |of| json!({ "name": of.name, "label": of.label }));
new_entry!(AssetAddArgs, |of| json!({
    "chain": of.chain, "token": of.token, "decimals": of.decimals, "symbol": of.symbol,
}));
new_entry!(WalletAddArgs, |of| json!({
    "name": of.name, "chain": of.chain, "address": of.address, "role": of.role,
}));
new_entry!(CustodyKeyAddArgs, |of| json!({
    "id": of.name, "xpub": of.xpub.as_ref().map(ToString::to_string), "address": of.address,
}));
new_entry!(ServerKeyAddArgs, |of| json!({
    "address": of.address, "server": of.server, "chain": of.chain, "asset": of.asset,
    "custody_key": of.custody_key,
    "buy_in_min": of.buy_in_min.to_string(), "buy_in_max": of.buy_in_max.to_string(),
    "developer_bps_max": of.developer_bps_max, "world_bps_max": of.world_bps_max,
    "spend_limit": of.spend_limit.map(|limit| limit.to_string()),
    "valid_until": of.valid_until.map(terminal::when::show),
}));
new_entry!(TreasuryAddArgs, |of| json!({ "chain": of.chain, "address": of.address, "label": of.label }));

fn xpub(text: &str) -> Result<ExtendedPublicKey, String> {
    text.parse().map_err(|_| "this is no extended public key; `bankroll keys xpub` prints one".into())
}
