//! The folder that the rows are run in: good books, damaged ones, and files of every kind.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use bankroll_ledger::{Asset, Unit};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    casino,
    program::{command, folder, hold, run},
};

/// A copy of the prepared folder.
pub struct World {
    folder: TempDir,
    before: Snapshot,
    /// The user that the program runs as, if it is not the user of the tests.
    user: Option<u32>,
    make: fn() -> World,
}

type Snapshot = BTreeMap<PathBuf, Entry>;

#[derive(Clone, PartialEq, Eq)]
enum Entry {
    Folder,
    Link(PathBuf),
    /// Its permissions and its bytes.
    File(u32, Vec<u8>),
}

impl World {
    pub fn new() -> Self {
        static PREPARED: OnceLock<TempDir> = OnceLock::new();
        let folder = folder();
        copy(PREPARED.get_or_init(prepare).path(), folder.path());
        Self::of(folder, None, Self::new)
    }

    pub fn of(folder: TempDir, user: Option<u32>, make: fn() -> Self) -> Self {
        let before = snapshot(folder.path());
        Self { folder, before, user, make }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program, in this folder.
    pub fn program(&self) -> Command {
        let mut program = command(self.path());
        if let Some(user) = self.user {
            program.uid(user);
        }
        program
    }

    /// What has changed since the last call. The folder is as before afterwards.
    pub fn changes(&mut self) -> Option<String> {
        let after = snapshot(self.path());
        if after == self.before {
            return None;
        }
        let all = self.before.keys().chain(after.keys());
        let mut changed: Vec<String> = all
            .filter(|path| self.before.get(*path) != after.get(*path))
            .map(|path| path.display().to_string())
            .collect();
        changed.sort();
        changed.dedup();
        *self = (self.make)();
        Some(changed.join(", "))
    }
}

fn snapshot(folder: &Path) -> Snapshot {
    let mut entries = Snapshot::new();
    visit(folder, &mut |path, entry| {
        let name = path.to_string_lossy();
        let is_empty = matches!(&entry, Entry::File(_, bytes) if bytes.is_empty());
        let is_reading = name.ends_with("-shm") || name.ends_with("-wal") && is_empty;
        // A command that opens books for writing acquires the lock first, and then reads what they are.
        if !is_reading && !name.ends_with("books.lock") {
            entries.insert(path.strip_prefix(folder).unwrap().to_owned(), entry);
        }
    });
    entries
}

fn visit(folder: &Path, see: &mut impl FnMut(&Path, Entry)) {
    // What this user may not read is not compared; the program runs with no more rights.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        if found.is_symlink() {
            see(&path, Entry::Link(fs::read_link(&path).unwrap()));
        } else if found.is_dir() {
            see(&path, Entry::Folder);
            visit(&path, see);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            see(&path, Entry::File(found.permissions().mode() & 0o777, bytes));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    visit(from, &mut |path, entry| {
        let target = to.join(path.strip_prefix(from).unwrap());
        match entry {
            Entry::Folder => fs::create_dir(target).unwrap(),
            Entry::Link(of) => symlink(of, target).unwrap(),
            Entry::File(..) => drop(fs::copy(path, target).unwrap()),
        }
    });
}

fn prepare() -> TempDir {
    let prepared = folder();
    let at = prepared.path();
    fs::create_dir(at.join("empty")).unwrap();
    fs::write(at.join("file"), "a letter to my bank\n").unwrap();
    prepare_books(at);
    prepare_new_books(at);
    prepare_configurations(at);
    prepare_receipts(at);
    prepare_hands(at);
    prepare_signers(at);
    prepared
}

/// `good` has the books of [`casino`]; the other folders have damaged ones.
fn prepare_books(at: &Path) {
    fs::create_dir(at.join("good")).unwrap();
    casino::open(&at.join("good"));
    let good = fs::read(at.join("good/books.db")).unwrap();
    let write = |folder: &str, bytes: &[u8]| {
        fs::create_dir(at.join(folder)).unwrap();
        fs::write(at.join(folder).join("books.db"), bytes).unwrap();
    };
    write("zero", &[]);
    write("letter", "a letter to my bank, of some length. ".repeat(100).as_bytes());
    write("cut", &good[..good.len() / 2]);
    let mut noise = good.clone();
    noise[4_096..].fill(0xff);
    write("noise", &noise);
    let mut headless = good;
    headless[..100].fill(0);
    write("headless", &headless);
    fs::create_dir_all(at.join("books-folder/books.db")).unwrap();
    fs::create_dir(at.join("other")).unwrap();
    Connection::open(at.join("other/books.db")).unwrap().execute_batch("CREATE TABLE letters (text)").unwrap();
}

/// `made` has the empty books of a new folder; those in `chained` know the coin of a chain that is not there, and the
/// game server `arena`, whose key is in `k`.
fn prepare_new_books(at: &Path) {
    run(at, &["init", "--dir", "made"]).ok();
    let (genesis, wallet) = (format!("0x{}", "1".repeat(64)), format!("0x{}", "2".repeat(40)));
    let keys = ["chain.rpc=http://127.0.0.1:1", &format!("chain.genesis={genesis}"), &format!("chain.wallet={wallet}")];
    let set = keys.iter().flat_map(|key| ["--set", *key]);
    run(at, &["init", "--dir", "chained"].into_iter().chain(set).collect::<Vec<_>>()).ok();
    let ledger = hold(&at.join("chained"));
    let coin = Asset { chain: "eip155:1".parse().unwrap(), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(coin).unwrap();
    ledger.close();
    let program = |args: &str| run(at, &args.split_whitespace().collect::<Vec<_>>());
    let key = program("keys auth k --json").json();
    let key = key["address"].as_str().unwrap();
    program("registry chains add eip155:1 --label x --dir chained").ok();
    program("registry assets add ETH --chain eip155:1 --decimals 18 --dir chained").ok();
    program(&format!("registry custody-keys add hot --address {wallet} --dir chained")).ok();
    program(&format!("registry wallets add hot --chain eip155:1 --role hot --address {wallet} --dir chained")).ok();
    let bounds = "--buy-in-min 1 --buy-in-max 9 --developer-bps-max 0 --world-bps-max 0";
    let of = "--server arena --chain eip155:1 --asset 1 --custody-key hot --dir chained";
    program(&format!("registry server-keys add {key} {of} {bounds}")).ok();
    let terms = "--buy-in 1 --developer-bps 0 --world-bps 0 --mass-per-coin 1 --dir chained";
    let wallets = format!("--payout-address {wallet} --developer 0x{}", "3".repeat(40));
    program(&format!("servers register arena --key k {terms} {wallets}")).ok();
}

fn prepare_configurations(at: &Path) {
    fs::create_dir_all(at.join("config-folder/bankroll.toml")).unwrap();
    let write = |name: &str, text: &[u8]| fs::write(at.join(name), text).unwrap();
    write("bytes.toml", b"[books]\nfolder = \"\xff\xfe\"\n");
    write("broken.toml", b"[books\n");
    write("twice.toml", b"[books]\nfolder = \".\"\nfolder = \".\"\n");
    write("section.toml", b"books = 3\n");
    write("secret.toml", b"books = \"postgres://bank:hunter2@db/books\"\n");
    write("unknown.toml", b"[boks]\nfolder = \".\"\n");
    write("password.toml", b"[books]\ndatabase = postgres://bank:hunter2@db/books\n");
    let types = b"[books]\nqueue_max = \"many\"\nlease_ms = true\nfolder = 5\ndurability = [\"full\"]\n\
                  [chain]\nid = 1.5\nrpc = [\"http://key@host\"]\nmax_fee_per_gas = -1\n[server]\nname = 7\n";
    write("types.toml", types);
    write("two-tables.toml", two_chains([137, 137], ["one", "two"]).as_bytes());
    write("two-wallets.toml", two_chains([137, 56], ["hot", "hot"]).as_bytes());
    symlink("nowhere.toml", at.join("link.toml")).unwrap();
}

/// `receipt.json` is good; those in `receipts` are not.
fn prepare_receipts(at: &Path) {
    run(at, &["receipt", "5", "--dir", "good", "--out", "receipt.json"]).ok();
    let text = fs::read_to_string(at.join("receipt.json")).unwrap();
    let receipt: Value = serde_json::from_str(&text).unwrap();
    fs::create_dir(at.join("receipts")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(at.join("receipts").join(name), bytes).unwrap();
    write("cut.json", &text.as_bytes()[..200]);
    write("empty.json", b"");
    write("list.json", b"[]");
    write("letter.json", b"a letter");
    write("bytes.json", b"\xff\xfe{");
    let changed = |name: &str, key: &str, value: Value| {
        let mut changed = receipt.clone();
        changed[key] = value;
        write(name, changed.to_string().as_bytes());
    };
    changed("format.json", "format", json!("bankroll receipt 99"));
    changed("seq.json", "seq", json!("five"));
    changed("negative.json", "seq", json!(-5));
    changed("digits.json", "record", json!("zz"));
    changed("short.json", "head", json!("abcd"));
    changed("batch.json", "batch", json!(7));
    changed("version.json", "record", json!(format!("00{}", &receipt["record"].as_str().unwrap()[2..])));
    changed("siblings.json", "siblings", json!(["00".repeat(32)]));
}

fn prepare_hands(at: &Path) {
    run(at, &["hand", "play", "--seats", "2", "--shufflers", "1", "--seed", "7", "--out", "hands"]).ok();
    let good = fs::read(at.join("hands/hand-7-1.hand")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(at.join("hands").join(name), bytes).unwrap();
    write("cut.hand", &good[..good.len() / 2]);
    write("empty.hand", b"");
    write("letter.hand", b"a letter");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    write("flipped.hand", &flipped);
}

/// `signer` is good, with the password in `secret`; those in `signers` are not.
fn prepare_signers(at: &Path) {
    fs::write(at.join("secret"), "correct horse\n").unwrap();
    fs::write(at.join("secret-wrong"), "battery staple\n").unwrap();
    fs::write(at.join("secret-empty"), "\n").unwrap();
    run(at, &["signer", "init", "--dir", "signer", "--light", "--password-file", "secret"]).ok();
    let rules = fs::read_to_string(at.join("signer/signer.toml")).unwrap();
    let memory = fs::read(at.join("signer/memory.db")).unwrap();
    let signer = |name: &str| {
        let to = at.join("signers").join(name);
        fs::create_dir_all(&to).unwrap();
        copy(&at.join("signer"), &to);
        to
    };
    fs::remove_file(signer("no-memory").join("memory.db")).unwrap();
    fs::write(signer("letter").join("memory.db"), "a letter to my bank".repeat(100)).unwrap();
    fs::write(signer("cut").join("memory.db"), &memory[..memory.len() / 2]).unwrap();
    fs::remove_file(signer("no-key").join("wallet.json")).unwrap();
    fs::write(signer("bad-key").join("wallet.json"), "{\"version\": 3}").unwrap();
    fs::write(signer("bytes").join("signer.toml"), b"\xff").unwrap();
    fs::write(signer("broken").join("signer.toml"), "[wallets").unwrap();
    let with = |name: &str, from: &str, to: &str| {
        assert!(rules.contains(from), "{from}");
        fs::write(signer(name).join("signer.toml"), rules.replace(from, to)).unwrap();
    };
    with("unknown", "window_seconds", "window_second");
    with("types", "window_seconds = 86400", "window_seconds = \"a day\"");
    with("negative", "max_gas = 100000", "max_gas = -1");
    with("zero", "id = 31337", "id = 0");
    with("table", "[[wallets]]", "[wallets]");
    with("amount", "per_payout = \"1000000000000000000\"", "per_payout = \"1.5\"");
    with("manner", "eip1559", "eip4844");
}

/// Two further chains with everything that a chain needs.
fn two_chains(ids: [u64; 2], wallets: [&str; 2]) -> String {
    let table = |name: &str, id: u64, wallet: &str| {
        let (genesis, address) = ("11".repeat(32), "aa".repeat(20));
        format!(
            "[chains.{name}]\nid = {id}\nrpc = \"https://{name}.example\"\ngenesis = \"0x{genesis}\"\n\
             wallet = \"0x{address}\"\nwallet_name = \"{wallet}\"\n"
        )
    };
    table("one", ids[0], wallets[0]) + &table("two", ids[1], wallets[1])
}
