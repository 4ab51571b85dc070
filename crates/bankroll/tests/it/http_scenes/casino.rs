//! A folder whose owner has registered the game server `arena`, and the node that serves it.

use std::{
    ffi::OsString,
    fs::{self, DirEntry, Permissions},
    net::SocketAddr,
    path::Path,
    sync::LazyLock,
};

use bankroll_ledger::{Action, Amount, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope};
use serde_json::json;
use tempfile::TempDir;

use super::{caller::Caller, wallet::Wallet};
use crate::{
    program::{Run, command, folder, hold, run},
    running::Running,
};

/// What Alice has, and what the world has, when a scene begins.
pub const ALICE_HAS: u64 = 1_000_000;
pub const WORLD_HAS: u64 = 1_000_000_000;
pub const WORLD: &str = "arena/world/1";
const HOT: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// The files of a casino, made once by the commands: each scene begins with a copy.
static TEMPLATE: LazyLock<Template> = LazyLock::new(Template::make);

struct Template {
    files: Vec<CasinoFile>,
    /// The session of the game server.
    token: String,
}

impl Template {
    fn make() -> Self {
        let folder = folder();
        let at = folder.path();
        let program = |args: &str| -> Run { run(at, &args.split_whitespace().collect::<Vec<_>>()) };
        program("init --set chain.id=31337").ok();
        program("registry chains add eip155:31337 --label Anvil").ok();
        program("registry assets add ETH --chain eip155:31337 --decimals 18").ok();
        program(&format!("registry custody-keys add main --address {HOT}")).ok();
        program(&format!("registry wallets add hot --chain eip155:31337 --role hot --address {HOT}")).ok();
        let key = program("keys auth arena.key --json").json()["address"].as_str().unwrap().to_owned();
        let of = "--server arena --chain eip155:31337 --asset 1 --custody-key main";
        let bounds = "--buy-in-min 1 --buy-in-max 1000 --developer-bps-max 500 --world-bps-max 500";
        program(&format!("registry server-keys add {key} {of} {bounds}")).ok();
        let terms = "--buy-in 100 --developer-bps 100 --world-bps 250 --mass-per-coin 1000";
        let wallets = format!("--payout-address {HOT} --developer {}", Wallet::of("developer").address());
        let registered = program(&format!("servers register arena --key arena.key {terms} {wallets} --json")).json();
        give(at, &[(&Wallet::of("alice").funds(), ALICE_HAS), ("arena/ecosystem/1", WORLD_HAS + 1_000)]);
        let token = registered["token"].as_str().unwrap().to_owned();
        Self { files: read_files(at), token }
    }
}

struct CasinoFile {
    name: OsString,
    bytes: Vec<u8>,
    permissions: Permissions,
}

fn read_files(folder: &Path) -> Vec<CasinoFile> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let read = |entry: DirEntry| CasinoFile {
        name: entry.file_name(),
        bytes: fs::read(entry.path()).unwrap(),
        permissions: entry.metadata().unwrap().permissions(),
    };
    files.map(read).collect()
}

/// Money from outside, as deposits credit it.
fn give(folder: &Path, to: &[(&str, u64)]) {
    let ledger = hold(folder);
    let names = ["@house/custody/1/hot"].into_iter().chain(to.iter().map(|(name, _)| *name));
    let opened = ledger.open_accounts(&Principal::System, names.map(|name| name.parse().unwrap()).collect()).unwrap();
    let accounts: Vec<_> = opened.into_iter().map(Result::unwrap).collect();
    let leg = |(place, (_, units)): (usize, &(&str, u64))| Leg::Move {
        from: accounts[0],
        to: accounts[place + 1],
        amount: Amount::new(u128::from(*units)),
    };
    let request = Request {
        key: IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: "scene".into() },
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Legs(to.iter().enumerate().map(leg).collect()),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    ledger.apply(request).unwrap().effects().unwrap();
    ledger.close();
}

/// A copy of the casino's folder, without a node.
pub fn casino_folder() -> TempDir {
    let folder = folder();
    for CasinoFile { name, bytes, permissions } in &TEMPLATE.files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, permissions.clone()).unwrap();
    }
    folder
}

/// The game server `arena`, at this address.
pub fn arena_at(address: SocketAddr) -> Caller {
    Caller { address, token: TEMPLATE.token.clone() }
}

impl Caller {
    /// The game server fills its world.
    pub fn with_world(self) -> Self {
        self.arena("pellets", "scene", &json!({ "amount": WORLD_HAS.to_string() })).expect(200);
        self
    }
}

/// The address in the event `api` of a node.
pub fn api_address(api: &serde_json::Value) -> SocketAddr {
    api["url"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap()
}

/// A casino whose node runs.
pub struct Casino {
    pub folder: TempDir,
    pub node: Running,
    pub arena: Caller,
}

impl Casino {
    /// Alice has [`ALICE_HAS`]; the world has [`WORLD_HAS`].
    pub fn open() -> Self {
        let folder = casino_folder();
        let (node, address) = start(folder.path(), &[]);
        Self { folder, node, arena: arena_at(address).with_world() }
    }

    /// The node is killed, and another process serves the same folder.
    pub fn kill_and_start(self) -> Self {
        let Self { folder, node, arena } = self;
        node.signal("-KILL");
        node.ended();
        let (node, address) = start(folder.path(), &[]);
        Self { folder, node, arena: Caller { address, ..arena } }
    }

    /// The node ends, and the books are sound.
    pub fn close(self) {
        self.node.signal("-TERM");
        assert_eq!(self.node.ended().0, 0);
        run(self.folder.path(), &["audit"]).ok();
    }
}

pub fn start(folder: &Path, set: &[&str]) -> (Running, SocketAddr) {
    let mut serve = command(folder);
    serve.args(["serve", "--json"]).args(set.iter().flat_map(|set| ["--set", set]));
    let node = Running::spawn(serve, "node-1");
    let address = api_address(&node.until("api"));
    (node, address)
}
