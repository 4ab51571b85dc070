//! Referees that others wrote, against a running node over HTTP: viem and siwe sign as wallets do, and
//! Schemathesis reads the OpenAPI document and looks for answers that the document does not allow.
//!
//! `cargo xtask test` installs them into `.tools`.

mod schemathesis;
mod sign_in;
mod wallets;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    program::{command, credit, folder, run},
    running::Running,
};

const CHAIN: u64 = 31_337;
/// The account 0 of the mnemonic of anvil, and its first address.
const XPUB: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";
const HOT: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/// The next keys of that mnemonic: of the game server, of the player, and of the developer.
const SERVER: Wallet = Wallet {
    address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    key: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
};
const PLAYER: Wallet = Wallet {
    address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    key: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
};
const DEVELOPER: &str = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
/// The public name of the deployment, for messages of servers, and the domain of the page on which players sign in.
const AUDIENCE: &str = "localhost:8640";
/// The player's funds in the books.
const FUNDS: &str = "arena/funds/1/0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";

struct Wallet {
    address: &'static str,
    key: &'static str,
}

/// A node with an owner who has allowed a key for the game server `arena`. It is not registered yet.
struct RefereedNode {
    folder: TempDir,
    url: String,
    _node: Running,
}

impl RefereedNode {
    /// The player has 1,000 at the arena.
    fn start() -> Self {
        let folder = folder();
        let at = folder.path();
        let bounds = "--buy-in-min 1 --buy-in-max 1000 --developer-bps-max 500 --world-bps-max 500";
        let of = "--server arena --chain eip155:31337 --asset 1 --custody-key main";
        for args in [
            "init --set chain.id=31337",
            "registry chains add eip155:31337 --label Anvil",
            "registry assets add ETH --chain eip155:31337 --decimals 18",
            &format!("registry custody-keys add main --xpub {XPUB}"),
            &format!("registry wallets add hot --chain eip155:31337 --role hot --address {HOT}"),
            &format!("registry server-keys add {} {of} {bounds}", SERVER.address),
        ] {
            program(at, args).ok();
        }
        credit(at, FUNDS, 1_000);
        let mut serve = command(at);
        // The limits have tests of their own; here they would only refuse what a referee wants to see answered.
        serve.env("BANKROLL__API__REQUESTS_PER_S", "1000000").env("BANKROLL__API__SIGN_INS_PER_S", "1000000");
        serve.args(["serve", "--json"]);
        let node = Running::spawn(serve, "node-1");
        let [api, _] = node.until_all(["api", "commands"]);
        Self { url: api["url"].as_str().unwrap().to_owned(), folder, _node: node }
    }

    /// Runs a script of this folder; returns the line that it prints.
    fn script(&self, script: &str, package: &str, version: &str) -> Value {
        let printed = self.script_command(script, package, version).output().unwrap();
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        serde_json::from_slice(&printed.stdout).unwrap()
    }

    /// A script of this folder, with a package of `.tools`.
    fn script_command(&self, script: &str, package: &str, version: &str) -> Command {
        let modules = tools().join(package).join("node_modules");
        let manifest = std::fs::read_to_string(modules.join(package).join("package.json")).unwrap_or_default();
        let is_current = manifest.contains(&format!("\"version\": \"{version}\""));
        assert!(is_current, "{package} {version} is missing: run `cargo xtask test`");
        let input = json!({
            "url": self.url, "audience": AUDIENCE, "domain": AUDIENCE, "chain": CHAIN, "hot": HOT,
            "developer": DEVELOPER, "serverKey": SERVER.key, "playerKey": PLAYER.key,
        });
        let mut node = Command::new("node");
        node.arg(scripts().join(script)).arg(input.to_string()).env("NODE_PATH", modules);
        node
    }
}

fn program(at: &Path, args: &str) -> crate::program::Run {
    run(at, &args.split_whitespace().collect::<Vec<_>>())
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/http_referees")
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools")
}
