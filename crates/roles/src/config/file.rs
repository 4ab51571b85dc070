//! The file that `bankroll init` writes: every key with its default or its given value, commented.

use std::collections::BTreeMap;

use super::{
    ApiConfig, BooksConfig, ChainConfig, GameServerConfig, NodeConfig, NotifyConfig, SetFlag, chain::CHAINS,
    keys::is_text,
};

/// `bankroll.toml` with all defaults, except for the given values. They must have been loaded before, which checks them.
pub fn commented(given: &[SetFlag]) -> String {
    let mut section = String::new();
    let mut text = String::new();
    for line in commented_defaults().lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        }
        let value = line.split_once(" = ").and_then(|(key, default)| {
            // The last one counts, as when flags are loaded.
            let flag = given.iter().rfind(|flag| flag.key == format!("{section}.{key}"))?;
            Some(format!("{key} = {}", toml_value(flag, default.starts_with('"'))))
        });
        text.push_str(value.as_deref().unwrap_or(line));
        text.push('\n');
    }
    text + &further_chains(given)
}

/// The tables of further chains, with what was given for each; the other keys have their defaults.
fn further_chains(given: &[SetFlag]) -> String {
    let mut tables: BTreeMap<&str, BTreeMap<&str, &SetFlag>> = BTreeMap::new();
    for flag in given {
        let of_chain = flag.key.strip_prefix(CHAINS).and_then(|rest| rest.strip_prefix('.'));
        if let Some((chain, key)) = of_chain.and_then(|rest| rest.split_once('.')) {
            // The last one counts, as when flags are loaded.
            tables.entry(chain).or_default().insert(key, flag);
        }
    }
    let line = |(key, flag): (&&str, &&SetFlag)| format!("{key} = {}\n", toml_value(flag, is_text(&flag.key)));
    let table = |(chain, keys): (&&str, &BTreeMap<_, _>)| {
        format!("\n[{CHAINS}.{chain}]\n{}", keys.iter().map(line).collect::<String>())
    };
    tables.iter().map(table).collect()
}

fn toml_value(flag: &SetFlag, is_text: bool) -> String {
    // The escapes of a JSON string are those of TOML.
    if is_text { serde_json::Value::from(flag.text.trim_matches('"')).to_string() } else { flag.text.clone() }
}

fn commented_defaults() -> String {
    let BooksConfig { lease_ms, queue_max, accounts_in_memory_max, keys_in_memory_max, .. } = BooksConfig::default();
    let BooksConfig { scrub_percent, scrub_pause_s, .. } = BooksConfig::default();
    let NodeConfig { name, roles, listen, certificates, .. } = NodeConfig::default();
    let certificates = certificates.display();
    let ApiConfig { listen: api_listen, metrics, audience, domain, .. } = ApiConfig::default();
    let ApiConfig { behind_proxy, body_max, requests_per_s, sign_ins_per_s, connections_max, .. } =
        ApiConfig::default();
    let NotifyConfig { allow_private_targets, poll_ms: notify_poll_ms, in_flight_max: deliveries_max, keep_days } =
        NotifyConfig::default();
    let ChainConfig { id, confirmations, window, block_time_ms, agreement, agreement_above, start, signer, .. } =
        ChainConfig::default();
    let ChainConfig { poll_ms, resend_ms, in_flight_max, max_fee_per_gas, pay_at_once, .. } = ChainConfig::default();
    let agreement_above = agreement_above.0;
    let (signer, max_fee_per_gas, pay_at_once) = (signer.display(), max_fee_per_gas.0, pay_at_once.0);
    let GameServerConfig { name: server, buy_in, developer_bps, world_bps } = GameServerConfig::default();
    let buy_in = buy_in.0;
    format!(
        r#"# Bankroll's configuration. Every key is here with its default; a key that is not known is an error.
# Environment variables override this file (BANKROLL__BOOKS__QUEUE_MAX=8192); --set books.queue_max=8192 overrides
# both. `bankroll config show --origin` says where each value comes from.

[books]
# Where books.db is, relative to this file's folder. Keep it on a local disk.
folder = "."

# A Postgres database instead, as in postgres://user@host:5432/books, with a standby as host,standby. Give its
# password in the environment: BANKROLL__BOOKS__DATABASE. Unless the server is on this machine, it must prove by TLS
# who it is: its certificate is verified against this machine's roots, or a file:
# ...?sslrootcert=/etc/bankroll/ca.pem. To relax this, set ...?sslmode=require (encrypted, the server is not
# verified), prefer, disable.
database = ""

# "full": no acknowledged transfer is lost, whatever happens to the machine.
# "may_lose_recent_commits": faster on slow disks, and a power cut loses acknowledged transfers. Play money only.
durability = "full"

# How long a node that has gone silent keeps the ledger of a database, in milliseconds; then another node takes over.
lease_ms = {lease_ms}

# Requests that may be queued or in work at once; more are answered `busy` and may be retried. Bounds memory.
queue_max = {queue_max}

# Accounts kept in memory. More than that are read from the file again: slower, never wrong.
accounts_in_memory_max = {accounts_in_memory_max}

# Idempotency keys kept in memory (48 bytes each) before they are written out in order. Keys never expire.
keys_in_memory_max = {keys_in_memory_max}

# The node that holds the ledger re-reads all of it again and again, and stops when something is damaged (`bankroll
# serve --help`). The share of the time in which it does so, in percent, 0 for never; and the pause between two passes.
# A pass needs the memory of an audit: about 300 bytes an account, and 16 bytes a record.
scrub_percent = {scrub_percent}
scrub_pause_s = {scrub_pause_s}

# Where /metrics answers in a node with the role "books" and without the role "api" (which has api.metrics), as in
# "127.0.0.1:8642": open alerts. Empty for nowhere.
metrics = ""

[node]
# One node does everything, unless the books are in a database: then several can share the work (`bankroll serve`).
# The name is the one in this node's certificate.
name = "{name}"

# "all", or some of books,api,indexer,payouts,notify. Several nodes may have "books": one holds the ledger, the others
# stand by. Reserved, and without work today: reconciler,drainer.
roles = "{roles}"

# Where a node with the role "books" listens for other nodes; and the address at which they reach it, if it is
# another one.
listen = "{listen}"
address = ""

# The folder with ca.pem and this node's certificate and key, relative to this file's folder: `bankroll nodes init`,
# `add`.
certificates = "{certificates}"

# What the log has: "error", "warning", "info", or "debug" with each request of the Funds API.
log_level = "info"

[api]
# Where commands (`servers`, `registry`, `players`, `transfer`) reach the Funds API, as in "https://funds.example".
# Empty: through the books in this folder or database.
url = ""

# Where the Funds API listens, and on another address its metrics; metrics = "" for none. Nodes with the role "api".
listen = "{api_listen}"
metrics = "{metrics}"

# Certificate and key as PEM files, relative to this file's folder. Without them, put a proxy that ends TLS in front of
# the API, unless only this machine reaches it.
tls_certificate = ""
tls_key = ""

# True if a proxy that you run is in front of the API: callers are counted by the last address of X-Forwarded-For, which
# the proxy must set. Never set this without one: then callers choose their own address.
behind_proxy = {behind_proxy}

# The origins of web pages that may call the API from a browser, as in https://play.example; several are separated by
# commas.
origins = ""

# The public name of this deployment. It is part of every message that callers sign, so that a signature for one
# deployment is worth nothing at another. And the domain of the page on which players sign in with their wallets.
audience = "{audience}"
domain = "{domain}"

# Limits: the bytes of a request's body (a batch may be longer), requests each second from one address, registrations
# and sign-ins among them, open connections. One address has at most an eighth of the connections, unless a proxy is in
# front.
body_max = {body_max}
requests_per_s = {requests_per_s}
sign_ins_per_s = {sign_ins_per_s}
connections_max = {connections_max}

[notify]
# True lets webhooks reach this machine and its network, by http and at every port: for development only, and refused
# with a real chain.
allow_private_targets = {allow_private_targets}

# How often to check for new events; requests to webhooks in flight at most; and for how long the log of deliveries keeps
# what was delivered. Nodes with the role "notify".
poll_ms = {notify_poll_ms}
in_flight_max = {deliveries_max}
keep_days = {keep_days}

[chain]
# The RPC nodes of an EVM chain, as in https://a.example/KEY,https://b.example/KEY, separated by commas. Give two
# providers that do not know each other: one alone can hide or invent deposits. When one fails the next one is used.
# Empty: no chain, no deposits, no payouts. If a key is part of a URL, give them in the environment:
# BANKROLL__CHAIN__RPC. The same for ws: WebSocket URLs (wss://...) that announce new blocks, in addition to polling.
rpc = ""
ws = ""

# The chain's id and genesis hash. An RPC node of another chain is not believed. And the chain's coin; empty for the one
# of a known id.
id = {id}
genesis = ""
symbol = ""

# What follows from the chain's id if it is 0 or "auto". When a deposit is final: by the chain's own word ("finalized",
# the default on real chains, or "safe"), and after so many blocks, its own included; "depth" is by the number of blocks
# alone, which on a real chain is a guess. And how many headers are remembered: a reorganisation is followed that deep.
confirmations = {confirmations}
finality = "auto"
window = {window}

# How often the chain makes a block; how transfers inside of transactions are found ("trace_block", "call_tracer", or
# "none": then what a balance does not explain goes to suspense); how gas is paid ("market" is EIP-1559, "legacy" one
# price).
block_time_ms = {block_time_ms}
tracer = "auto"
fees = "auto"

# From this value on, in base units, nothing is final before so many providers have said the same; with fewer in rpc a
# person confirms. 0 follows from the chain's id, too; 1 is every deposit.
agreement = {agreement}
agreement_above = "{agreement_above}"

# The first block that is read.
start = {start}

# For a registry that does not have the chain: the wallet that players pay to and are paid from, one of the signer's;
# its name in the books, empty for "hot"; and the addresses that the house's own capital comes from, which pays for gas;
# several are separated by commas. Once written into the registry, the registry counts.
wallet = ""
wallet_name = ""
treasury = ""

# The socket of the signer (`bankroll signer`), relative to this file's folder. Empty: nothing is paid on this chain.
signer = "{signer}"

# How often to check for new blocks and new payouts; and when to send the same transaction again.
poll_ms = {poll_ms}
resend_ms = {resend_ms}

# Payouts in flight at most; the most that a unit of gas may cost; the largest payout that needs no approval.
# Amounts are in base units (wei).
in_flight_max = {in_flight_max}
max_fee_per_gas = "{max_fee_per_gas}"
pay_at_once = "{pay_at_once}"

# Further chains that this process follows and pays on, at the same time. Each is a table with a name of yours and the
# keys of [chain]; only id, genesis, rpc and wallet are needed. In the environment: BANKROLL__CHAINS__POLYGON__RPC. Its
# wallet is "hot-137" in the books unless wallet_name says otherwise. Deposits there are credited in that chain's coin.
#
# [chains.polygon]
# rpc = "https://a.example/KEY,https://b.example/KEY"
# id = 137
# genesis = "0x..."
# wallet = "0x..."

[server]
# For a registry without servers: the game server whose players pay here, in the coin of [chain]; what a place in its
# world costs; and the fees on top for the developer and for the world, in hundredths of a percent. Once written into
# the registry, the registry counts.
name = "{server}"
buy_in = "{buy_in}"
developer_bps = {developer_bps}
world_bps = {world_bps}
"#
    )
}

#[cfg(test)]
mod tests {
    use figment::{
        Figment,
        providers::{Format, Serialized, Toml},
    };

    use super::*;
    use crate::config::Config;

    #[test]
    fn the_file_says_what_the_program_does() {
        assert_eq!(read(&commented(&[])), Config::default());
    }

    #[test]
    fn given_values_are_in_the_file_and_the_rest_are_defaults() {
        let flags = ["chain.rpc=http://127.0.0.1:8545", "chain.id=31337", "server.name=\"a\"", "chain.id=5"];
        let flags = flags.map(|flag| flag.parse::<SetFlag>().unwrap());
        let written = read(&commented(&flags));
        let flagged = flags.iter().fold(Figment::from(Serialized::defaults(Config::default())), Figment::merge);
        assert_eq!(written, flagged.extract().unwrap());
        assert_eq!((written.chain.id, written.server.name.as_str()), (5, "a"));
        assert_eq!(written.books, BooksConfig::default());
    }

    #[test]
    fn a_further_chain_that_is_given_is_a_table_of_its_own() {
        let flags = [
            "chains.bsc.id=56",
            "chains.polygon.rpc=https://a.example",
            "chains.polygon.id=5",
            "chains.polygon.id=137",
        ];
        let text = commented(&flags.map(|flag| flag.parse::<SetFlag>().unwrap()));
        let (_, tables) = text.split_once("world_bps = 100\n").unwrap();
        assert_eq!(tables, "\n[chains.bsc]\nid = 56\n\n[chains.polygon]\nid = 137\nrpc = \"https://a.example\"\n");
    }

    fn read(text: &str) -> Config {
        Figment::from(Toml::string(text)).extract().unwrap()
    }
}
