//! Published heads as readers meet them: kept in a file, checked later, against books that were cut or rewritten; and
//! receipts under them.

mod page;
mod receipts;
mod referee;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    program::{command, credit, folder, run},
    running::{PATIENCE, Running},
};

/// Alice's account.
const FUNDS: &str = "arena/funds/1/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

/// A folder with a coin and no node.
fn casino() -> TempDir {
    let folder = folder();
    for args in [
        "init --set chain.id=31337",
        "registry chains add eip155:31337 --label Anvil",
        "registry assets add ETH --chain eip155:31337 --decimals 18",
    ] {
        run(folder.path(), &args.split(' ').collect::<Vec<_>>()).ok();
    }
    folder
}

fn serve(at: &Path) -> Running {
    let mut serve = command(at);
    serve.args(["serve", "--json"]);
    let node = Running::spawn(serve, "node-1");
    node.until("took");
    node
}

fn stop(node: Running) {
    node.signal("-TERM");
    assert_eq!(node.ended(), (0, String::new()));
}

/// A node runs once: what the journal has is published before it ends.
fn publish(at: &Path) {
    stop(serve(at));
}

/// Keeps the newest head in a file.
fn keep(at: &Path, name: &str) -> Value {
    let head = run(at, &["head", "--json"]).json();
    fs::write(at.join(name), head.to_string()).unwrap();
    head
}

fn copy(from: &Path, files: &[&str]) -> TempDir {
    let to = folder();
    for file in files {
        fs::copy(from.join(file), to.path().join(file)).unwrap();
    }
    to
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_node_publishes_what_its_journal_has_before_it_ends() {
    let casino = casino();
    let at = casino.path();
    run(at, &["head"]).fails(3, &["no head is published yet", "bankroll serve"]);
    let doctor = run(at, &["doctor"]).stdout;
    assert!(doctor.contains("\u{2713} head key       no head is published yet"), "{doctor}");
    publish(at);
    let batches = run(at, &["audit", "--json"]).json()["batches"].clone();
    let head = keep(at, "head.json");
    assert_eq!(
        (&head["batch"], &head["audience"], &head["chain_id"]),
        (&batches, &"localhost:8640".into(), &31337.into())
    );
    let address = head["address"].as_str().unwrap();
    assert_eq!(fs::metadata(at.join("head.key")).unwrap().permissions().mode() & 0o777, 0o600);
    let shown = run(at, &["head", "--batch", &batches.to_string()]).ok();
    let hash = head["head"].as_str().unwrap().trim_start_matches("0x");
    for line in
        [format!("batch      {batches}\n"), format!("head       {batches}:{hash}\n"), format!("address    {address}\n")]
    {
        assert!(shown.contains(&line), "{line:?} is not in {shown}");
    }
    let doctor = run(at, &["doctor"]).stdout;
    let up_to = format!("heads are published up to batch {batches}, signed by");
    assert!(doctor.contains(&up_to) && doctor.contains(address), "{doctor}");
    let audited = run(at, &["audit", "--head", "head.json"]).ok();
    assert!(audited.contains("1 published head and the tree over them agree with the journal"), "{audited}");
    run(at, &["audit", "--head", &format!("{batches}:0x{hash}")]).ok();
    run(at, &["head", "--batch", "1"]).fails(3, &["no head was published after batch 1; the newest is after batch"]);
    publish(at);
    assert_eq!(keep(at, "again.json"), head, "nothing new, nothing published");
    run(at, &["rebuild"]).ok();
    run(at, &["head", "--since", "head.json"]).ok();
    run(at, &["audit", "--head", "head.json"]).ok();
}

#[test]
fn a_running_node_publishes_within_moments_and_the_service_connects_heads_by_url() {
    let casino = casino();
    let at = casino.path();
    let mut command = command(at);
    command.args(["serve", "--json"]);
    let node = Running::spawn(command, "node-1");
    let [api, _] = node.until_all(["api", "heads"]);
    let url = format!("api.url={}", api["url"].as_str().unwrap());
    let newest = || run(at, &["head", "--json", "--set", &url]);
    let deadline = Instant::now() + PATIENCE;
    let published = |after: u64| loop {
        assert!(Instant::now() < deadline, "no head after batch {after}");
        let head = newest();
        if head.code == 0 {
            let head: Value = head.json();
            if head["batch"].as_u64() > Some(after) {
                return head;
            }
        }
    };
    let first = published(0);
    fs::write(at.join("first.json"), first.to_string()).unwrap();
    run(at, &["registry", "chains", "add", "eip155:1", "--label", "Ethereum"]).ok();
    let second = published(first["batch"].as_u64().unwrap());
    let address = first["address"].as_str().unwrap();
    let since = ["head", "--since", "first.json", "--signed-by", address, "--set", &url];
    let compared = run(at, &since).ok();
    assert!(compared.starts_with("consistent: the journal up to batch"), "{compared}");
    let json = run(at, &[&since[..], &["--json"]].concat()).json();
    assert_eq!((&json["consistent"], &json["to"]), (&true.into(), &second));
    stop(node);
}

/// Yesterday's file alone, without the notes that the node keeps next to it.
#[test]
fn an_older_copy_no_longer_audits_green_against_a_published_head() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    keep(at, "early.json");
    let old = copy(at, &["books.db", "early.json"]);
    credit(at, FUNDS, 100);
    publish(at);
    keep(at, "late.json");
    let consistent = run(at, &["head", "--since", "early.json"]).ok();
    assert!(consistent.starts_with("consistent:"), "{consistent}");
    run(at, &["audit", "--head", "late.json"]).ok();

    fs::copy(at.join("late.json"), old.path().join("late.json")).unwrap();
    run(old.path(), &["audit"]).ok();
    run(old.path(), &["audit", "--head", "early.json"]).ok();
    run(old.path(), &["audit", "--head", "late.json"])
        .fails(4, &["the journal does not have this head", "an older copy"]);
    let compared = run(old.path(), &["head", "--since", "late.json"]);
    assert!(compared.code == 4 && compared.stdout.contains("has lost what came"), "{}", compared.stdout);
}

/// The whole database is written anew, every hash with it, by an editor who has even the key of the deployment.
#[test]
fn books_that_were_written_anew_are_found_by_one_kept_head() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    let forged = copy(at, &["books.db", "head.key", "bankroll.toml", "owner.key"]);
    credit(at, FUNDS, 100);
    publish(at);
    keep(at, "kept.json");

    fs::copy(at.join("kept.json"), forged.path().join("kept.json")).unwrap();
    credit(forged.path(), FUNDS, 900);
    publish(forged.path());
    let theirs = keep(forged.path(), "theirs.json");
    run(forged.path(), &["audit"]).ok();
    run(forged.path(), &["audit", "--head", "theirs.json"]).ok();
    run(forged.path(), &["audit", "--head", "kept.json"]).fails(4, &["the journal does not have this head"]);
    let compared = run(forged.path(), &["head", "--since", "kept.json"]);
    assert!(compared.code == 4 && compared.stdout.contains("does not continue"), "{}", compared.stdout);
    let batch = theirs["batch"].to_string();
    let json = run(forged.path(), &["head", "--since", "kept.json", "--batch", &batch, "--json"]);
    assert_eq!(
        (json.code, serde_json::from_str::<Value>(&json.stdout).unwrap()["consistent"].clone()),
        (4, false.into())
    );
}

#[test]
fn an_edited_log_or_tree_is_found_and_nothing_more_is_signed() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    let edit = |sql: &str| {
        let books = rusqlite::Connection::open(at.join("books.db")).unwrap();
        books.execute_batch(&format!("DROP TRIGGER published_heads_keep_what_they_have; {sql}")).unwrap();
    };
    edit("UPDATE published_heads SET head = zeroblob(32)");
    run(at, &["audit"]).fails(4, &["the tree over heads does not have the root"]);
    credit(at, FUNDS, 100);
    let node = serve(at);
    let trouble = node.until("trouble");
    assert!(trouble["message"].as_str().unwrap().contains("does not have the head that was published after batch"));
    stop(node);
    let heads = rusqlite::Connection::open(at.join("books.db")).unwrap();
    let count: u32 = heads.query_row("SELECT count(*) FROM published_heads", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[test]
fn a_head_file_that_was_changed_counts_for_nothing() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    let head = keep(at, "head.json");
    let check = |edit: &dyn Fn(&mut Value), code: i32, says: &str| {
        let mut edited = head.clone();
        edit(&mut edited);
        fs::write(at.join("edited.json"), edited.to_string()).unwrap();
        run(at, &["audit", "--head", "edited.json"]).fails(code, &[says]);
        run(at, &["head", "--since", "edited.json"]).fails(code, &[says]);
    };
    check(&|head| head["seconds"] = 7.into(), 4, "the head in edited.json counts for nothing");
    check(&|head| head["batch"] = 1.into(), 4, "its signature is not of that key");
    check(&|head| head["audience"] = "other.example".into(), 4, "counts for nothing");
    check(&|head| head["note"] = "mine".into(), 1, "edited.json is not a published head");
    check(&|head| head["root"] = "0x12".into(), 1, "root of the head is malformed");
    check(&|head| head["format"] = "bankroll head 2".into(), 1, "the format is \"bankroll head 2\"");
    let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    run(at, &["head", "--signed-by", stranger]).fails(4, &["and not by 0x70997970"]);
    run(at, &["head", "--since", "nope.json"]).fails(3, &["there is no file nope.json"]);
}

#[test]
fn another_key_goes_on_under_its_own_address_and_the_log_says_so() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    let first = keep(at, "first.json");
    fs::remove_file(at.join("head.key")).unwrap();
    let doctor = run(at, &["doctor"]).stdout;
    assert!(doctor.contains("whose key is not here"), "{doctor}");
    credit(at, FUNDS, 100);
    let node = serve(at);
    let changed = node.until("head_signer");
    assert_eq!(changed["before"], first["address"]);
    stop(node);
    let second = keep(at, "second.json");
    assert_eq!(changed["address"], second["address"]);
    let compared = run(at, &["head", "--since", "first.json"]).ok();
    assert!(compared.starts_with("consistent:") && compared.contains("signed the kept head, and"), "{compared}");
    let by = first["address"].as_str().unwrap();
    run(at, &["head", "--since", "first.json", "--signed-by", by]).fails(4, &["and not by"]);
    fs::set_permissions(at.join("head.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let doctor = run(at, &["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("other users can read the key file"), "{}", doctor.stdout);
}

#[test]
fn a_node_that_is_killed_again_and_again_publishes_one_history() {
    let casino = casino();
    let at = casino.path();
    publish(at);
    keep(at, "first.json");
    for round in 0..3 {
        let node = serve(at);
        let chain = format!("eip155:{}", 1000 + round);
        run(at, &["registry", "chains", "add", &chain, "--label", "Another"]).ok();
        node.signal("-KILL");
        drop(node);
    }
    publish(at);
    let audited = run(at, &["audit", "--json"]).json();
    let head = keep(at, "last.json");
    assert_eq!(head["batch"], audited["batches"]);
    assert!(audited["published_heads"].as_u64() >= Some(2), "{audited}");
    run(at, &["head", "--since", "first.json"]).ok();
}

/// Where the second implementation is.
fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/heads/second_implementation.py")
}
