//! `bankroll config`: flags override the environment, which overrides the file; unknown values are reported.

use std::fs;

use crate::program::{folder, run, run_with};

/// A folder with this `bankroll.toml` must be refused with these messages.
fn check_refused(toml: &str, says: &[&str]) {
    let folder = folder();
    fs::write(folder.path().join("bankroll.toml"), toml).unwrap();
    run(folder.path(), &["config", "check"]).fails(2, says);
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion_and_the_file() {
    check_refused(
        "[books]\ndurabilty = \"full\"\n",
        &["./bankroll.toml: there is no key `books.durabilty`; did you mean `books.durability`?"],
    );
    check_refused("[boks]\nfolder = \".\"\n", &["no key `boks.folder`; did you mean `books.folder`?"]);
    check_refused("[nothing_like_it]\n", &["there is no key `nothing_like_it`\n"]);
    check_refused("a = 1\nb = 2\n", &["no key `a`", "no key `b`"]);
}

#[test]
fn values_that_cannot_be_used_are_named() {
    check_refused("[books]\ndurability = \"ful\"\n", &["books.durability", "did you mean `full`?"]);
    check_refused(
        "[books]\nqueue_max = \"many\"\n",
        &["./bankroll.toml: books.queue_max: \"many\" is not a whole number from 1024 to 1048576"],
    );
    check_refused("[books]\nqueue_max = 1\n", &["books.queue_max: 1 is not a whole number from 1024 to 1048576"]);
    check_refused("[books]\nqueue_max = -1\n", &["books.queue_max: -1 is not a whole number"]);
    check_refused(
        "books = 3\n",
        &["./bankroll.toml: books: found a number instead of keys; write [books], and its keys below"],
    );
    check_refused("[books\n", &["./bankroll.toml: TOML parse error at line 1"]);
}

/// Every command refuses it, `doctor` among them.
#[test]
fn webhooks_reach_no_private_target_with_a_real_chain() {
    let set = |id: &str| {
        let rpc = ["--set", "chain.rpc=http://127.0.0.1:8545", "--set"].map(str::to_owned);
        rpc.into_iter().chain([format!("chain.id={id}"), "--set".into(), "notify.allow_private_targets=true".into()])
    };
    let run = |command: &str, id: &str| {
        let args: Vec<String> = command.split(' ').map(str::to_owned).chain(set(id)).collect();
        run(folder().path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let says = "--set notify.allow_private_targets: true is for development: on a real chain a webhook could reach the \
                machines of this deployment (chain.id is 1); set it to false";
    run("config check", "1").fails(2, &[says]);
    assert!(run("doctor", "1").stdout.contains("notify.allow_private_targets: true is for development"));
    // A wallet and a genesis are missing; private targets are no problem of a test chain.
    assert!(!run("config check", "31337").stderr.contains("notify.allow_private_targets"));
}

#[test]
fn each_problem_is_a_cause_in_json() {
    let args = ["config", "check", "--json", "--set", "books.queue_max=1", "--set", "books.folder="];
    let refused = run(folder().path(), &args);
    let body: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
    assert_eq!(body["error"]["message"], "the configuration cannot be used");
    let problems = [
        "--set books.folder: set this to a folder, as in \".\"",
        "--set books.queue_max: 1 is not a whole number from 1024 to 1048576",
    ];
    assert_eq!(body["error"]["causes"], serde_json::json!(problems));
}

#[test]
fn an_unknown_variable_is_an_error_too() {
    let env = [("BANKROLL__BOOKS__FOLDR", "x")];
    run_with(folder().path(), &env, &["config", "check"])
        .fails(2, &["BANKROLL__BOOKS__FOLDR: there is no key `books.foldr`; did you mean `books.folder`?"]);
}

#[test]
fn flags_stand_above_the_environment_above_the_file() {
    let folder = folder();
    let toml = "[books]\nqueue_max = 2000\naccounts_in_memory_max = 2000\nkeys_in_memory_max = 2000\n";
    fs::write(folder.path().join("bankroll.toml"), toml).unwrap();
    let env = [("BANKROLL__BOOKS__QUEUE_MAX", "3000"), ("BANKROLL__BOOKS__KEYS_IN_MEMORY_MAX", "3000")];
    let args = ["config", "show", "--origin", "--json", "--set", "books.queue_max=4000"];
    let shown = run_with(folder.path(), &env, &args).json();
    let check = |key: &str, value: serde_json::Value, origin: &str| {
        assert_eq!((&shown[key]["value"], &shown[key]["origin"]), (&value, &origin.into()), "{key}");
    };
    check("books.queue_max", 4_000.into(), "--set books.queue_max");
    check("books.keys_in_memory_max", 3_000.into(), "BANKROLL__BOOKS__KEYS_IN_MEMORY_MAX");
    check("books.accounts_in_memory_max", 2_000.into(), "./bankroll.toml");
    check("books.durability", "full".into(), "default");
}

#[test]
fn what_show_prints_can_be_read_back() {
    let folder = folder();
    let shown = run(folder.path(), &["config", "show", "--set", "books.queue_max=5000"]).ok();
    fs::write(folder.path().join("bankroll.toml"), &shown).unwrap();
    assert_eq!(run(folder.path(), &["config", "show"]).ok(), shown);
    assert_eq!(run(folder.path(), &["config", "show", "--json"]).json()["books"]["queue_max"], 5_000);
}

#[test]
fn a_named_file_must_be_there_and_carries_its_folder() {
    let folder = folder();
    run(folder.path(), &["config", "check", "--config", "nope.toml"]).fails(3, &["no configuration file nope.toml"]);
    run(folder.path(), &["init", "--dir", "casino"]).ok();
    run(folder.path(), &["doctor", "--config", "casino/bankroll.toml"]).ok();
    assert_eq!(
        run(folder.path(), &["config", "check", "--config", "casino/bankroll.toml", "--json"]).json()["ok"],
        true
    );
}

#[test]
fn books_may_be_in_another_folder() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "data"]).ok();
    fs::write(folder.path().join("bankroll.toml"), "[books]\nfolder = \"data\"\n").unwrap();
    assert_eq!(run(folder.path(), &["accounts", "list"]).ok(), "no accounts match\n");
}

#[test]
fn durability_that_loses_money_gets_a_warning() {
    let env = [("BANKROLL__BOOKS__DURABILITY", "may_lose_recent_commits")];
    let checked = run_with(folder().path(), &env, &["config", "check"]);
    assert!(checked.stderr.contains("WARNING"), "{}", checked.stderr);
    let args = ["demo", "--exit", "--json", "--players", "2", "--seconds", "1"];
    let played = run_with(folder().path(), &env, &args);
    assert!(played.stderr.contains("WARNING"), "{}", played.stderr);
    assert_eq!(played.json()["audit"]["ok"], true);
}

const POLYGON: &str = "[chains.polygon]\nid = 137\nconfirmations = 64\nrpc = \"https://a.example/s3cret\"\n\
                       ws = \"wss://a.example/s3cret\"\nwallet = \"0x00000000000000000000000000000000000000aa\"\n\
                       genesis = \"0x1111111111111111111111111111111111111111111111111111111111111111\"\n";

#[test]
fn a_further_chain_has_the_keys_of_the_first_in_every_layer_and_no_key_of_a_provider_is_shown() {
    let folder = folder();
    fs::write(folder.path().join("bankroll.toml"), POLYGON).unwrap();
    let env = [
        ("BANKROLL__CHAINS__POLYGON__CONFIRMATIONS", "100"),
        ("BANKROLL__CHAINS__POLYGON__START", "7"),
        ("BANKROLL__CHAINS__BSC__RPC", "https://me:s3cret@b.example,https://c.example/s3cret"),
    ];
    let set = ["chains.polygon.confirmations=128", "chains.bsc.id=56"].map(|set| ["--set", set]).concat();
    let bsc = [
        "chains.bsc.wallet=0x00000000000000000000000000000000000000aa",
        "chains.bsc.genesis=0x2222222222222222222222222222222222222222222222222222222222222222",
    ];
    let set: Vec<&str> = set.into_iter().chain(bsc.map(|set| ["--set", set]).concat()).collect();
    let with = |args: &[&str]| run_with(folder.path(), &env, &[args, &set].concat());
    let shown = with(&["config", "show", "--origin", "--json"]).json();
    let check = |key: &str, value: serde_json::Value, origin: &str| {
        assert_eq!((&shown[key]["value"], &shown[key]["origin"]), (&value, &origin.into()), "{key}");
    };
    check("chains.polygon.confirmations", 128.into(), "--set chains.polygon.confirmations");
    check("chains.polygon.start", 7.into(), "BANKROLL__CHAINS__POLYGON__START");
    check("chains.polygon.id", 137.into(), "./bankroll.toml");
    check("chains.polygon.rpc", "https://a.example/***".into(), "./bankroll.toml");
    check("chains.polygon.ws", "wss://a.example/***".into(), "./bankroll.toml");
    check("chains.polygon.finality", "auto".into(), "default");
    check("chains.bsc.rpc", "https://***@b.example,https://c.example/***".into(), "BANKROLL__CHAINS__BSC__RPC");
    for args in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "--origin"]] {
        let text = with(args).ok();
        assert!(text.contains("a.example") && !text.contains("s3cret"), "{text}");
    }
    let text = with(&["config", "show"]).ok();
    assert!(text.contains("\n[chains.bsc]\n") && text.contains("\n[chains.polygon]\n"), "{text}");
    with(&["config", "check"]).ok();
}

#[test]
fn a_configuration_that_init_writes_has_the_further_chains_that_were_given() {
    let folder = folder();
    let set = ["--set", "chains.polygon.id=137", "--set", "chains.polygon.symbol=POL"];
    run(folder.path(), &[&["init"][..], &set].concat()).ok();
    let shown = run(folder.path(), &["config", "show", "--json"]).json();
    assert_eq!(
        (&shown["chains"]["polygon"]["id"], &shown["chains"]["polygon"]["symbol"]),
        (&137.into(), &"POL".into())
    );
}

#[test]
fn all_problems_of_all_chains_are_reported_at_once() {
    let twice = POLYGON.replace("polygon", "matic");
    check_refused(
        &format!("[chain]\nid = \"one\"\n{POLYGON}poll_ms = 0\n{twice}rcp = 1\n"),
        &[
            "chain.id: \"one\" is not a whole number",
            "chains.polygon.poll_ms: 0 is not a whole number from 1 to 600000",
            "there is no key `chains.matic.rcp`; did you mean `chains.matic.rpc`?",
        ],
    );
    check_refused(
        &format!("{POLYGON}treasury = \"0x12\"\n{}", twice.replace("1111", "11")),
        &["chains.polygon.treasury: \"0x12\": an address is", "chains.matic.genesis: \"0x11"],
    );
}
