//! The file that `bankroll init` writes: every key with its default, commented.

use super::{Books, Chain, Node, Server};

/// `bankroll.toml` with all defaults.
pub fn commented_defaults() -> String {
    let Books { lease_ms, queue_max, accounts_in_memory_max, keys_in_memory_max, .. } = Books::default();
    let Node { name, roles, listen, certificates, .. } = Node::default();
    let certificates = certificates.display();
    let Chain { id, symbol, confirmations, start, signer, poll_ms, resend_ms, in_flight_max, .. } = Chain::default();
    let Chain { max_fee_per_gas, pay_at_once, .. } = Chain::default();
    let (signer, max_fee_per_gas, pay_at_once) = (signer.display(), max_fee_per_gas.0, pay_at_once.0);
    let Server { name: server, buy_in, developer_bps, world_bps } = Server::default();
    let buy_in = buy_in.0;
    format!(
        r#"# Bankroll's configuration. Every key is here with its default; a key that is not known is an error.
# Above this file stand environment variables (BANKROLL__BOOKS__QUEUE_MAX=8192), above those --set books.queue_max=8192.
# `bankroll config show --origin` says where each value comes from.

[books]
# Where books.db is, relative to this file's folder. Keep it on a local disk.
folder = "."

# A Postgres database instead, as in postgres://user@host:5432/books, with a standby as host,standby. Give its password
# in the environment: BANKROLL__BOOKS__DATABASE. Unless the server is on this machine, it must prove by TLS who it is: its
# certificate is verified against this machine's roots, or a file: ...?sslrootcert=/etc/bankroll/ca.pem. Less is to be
# said: ...?sslmode=require (encrypted with whoever answers), prefer, disable.
database = ""

# "full": nothing that was acknowledged is lost, whatever happens to the machine.
# "may_lose_recent_commits": faster on slow disks, and a power cut loses acknowledged transfers. Play money only.
durability = "full"

# How long a node that has gone silent keeps the books of a database, in milliseconds; another takes over then.
lease_ms = {lease_ms}

# Requests that may wait or be worked on at once; more are answered `busy` and may be sent again. Bounds memory.
queue_max = {queue_max}

# Accounts kept in memory. More than that are read from the file again: slower, never wrong.
accounts_in_memory_max = {accounts_in_memory_max}

# Idempotency keys kept in memory (48 bytes each) before they are written out in order. Keys never expire.
keys_in_memory_max = {keys_in_memory_max}

[node]
# One node does everything, unless the books are in a database: then several can share the work (`bankroll serve`).
# The name is the one in this node's certificate.
name = "{name}"

# "all", or some of books,api,indexer,payouts,notify,reconciler,drainer. Several nodes may have "books": one holds them, the
# others stand by.
roles = "{roles}"

# Where a node with the role "books" answers other nodes, and under which address they find it if that is another one.
listen = "{listen}"
address = ""

# The folder with ca.pem and this node's certificate and key, relative to this file's folder: `bankroll nodes init`, `add`.
certificates = "{certificates}"

[chain]
# The node of an EVM chain that is followed and paid on, as in http://127.0.0.1:8545; several, separated by commas, are asked in
# turn when one fails. Empty: no chain, no deposits, no payouts. If a key is part of the address, give it in the
# environment: BANKROLL__CHAIN__RPC.
rpc = ""

# Which chain it must be: its number, and the hash of its first block. A node of another one is not believed.
id = {id}
genesis = ""
symbol = "{symbol}"

# How many blocks, its own included, make a deposit or a payout final; and the first block that is read.
confirmations = {confirmations}
start = {start}

# The wallet that players pay to and are paid from: one of the signer's. And where the house's own capital comes from, which
# pays for gas; several are separated by commas.
wallet = ""
treasury = ""

# The socket of the signer (`bankroll signer`), relative to this file's folder.
signer = "{signer}"

# How often it is looked for new blocks and new payouts; after how long the same bytes are sent again.
poll_ms = {poll_ms}
resend_ms = {resend_ms}

# Payouts that may be on their way at once; what a unit of gas may cost at the most; up to what a payout needs nobody's
# approval. Amounts are in base units (wei).
in_flight_max = {in_flight_max}
max_fee_per_gas = "{max_fee_per_gas}"
pay_at_once = "{pay_at_once}"

[server]
# The game server whose players pay here; what a place in its world costs; and what comes on top for the developer and for the
# world, in hundredths of a percent.
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
        providers::{Format, Toml},
    };

    use super::*;
    use crate::config::Config;

    #[test]
    fn the_file_says_what_the_program_does() {
        let written: Config = Figment::from(Toml::string(&commented_defaults())).extract().unwrap();
        assert_eq!(written, Config::default());
    }
}
