//! `bankroll init`: creates what is missing, overwrites nothing.

use std::fs;

use bankroll_testkit::postgres::needed_database;

use crate::program::{folder, run, run_with};

#[test]
fn a_new_folder_has_a_configuration_and_empty_books() {
    let folder = folder();
    let made = run(folder.path(), &["init", "--dir", "casino", "--json"]).json();
    assert_eq!(made["config"], "casino/bankroll.toml");
    assert_eq!(made["books"], "casino/books.db");
    let owner = made["owner"].as_str().unwrap();
    assert!(owner.starts_with("0x") && owner.len() == 42, "{owner}");
    run(folder.path(), &["doctor", "--full", "--dir", "casino"]).ok();
    assert_eq!(run(folder.path(), &["accounts", "list", "--dir", "casino"]).ok(), "no accounts match\n");
}

#[test]
fn the_next_steps_lead_to_a_node_that_serves() {
    let folder = folder();
    let text = run(folder.path(), &["init", "--dir", "casino"]).ok();
    let (_, next) = text.split_once("Next").unwrap();
    let steps = [
        "openssl",
        "signer init --dir casino/signer",
        "signer run --dir casino/signer",
        " chain ",
        "chain.rpc",
        "doctor --dir casino",
        "serve --dir casino",
    ];
    let places: Vec<usize> =
        steps.iter().map(|step| next.find(step).unwrap_or_else(|| panic!("{step}: {next}"))).collect();
    assert!(places.is_sorted(), "{next}");
    assert!(next.lines().count() <= 8, "{next}");
    // The password that the first step makes is the one that the others name.
    fs::write(folder.path().join("casino/password"), "0123456789abcdef\n").unwrap();
    let signer = ["signer", "init", "--light", "--dir", "casino/signer", "--password-file", "casino/password"];
    run(folder.path(), &signer).ok();
}

#[test]
fn books_are_created_where_the_environment_says() {
    let folder = folder();
    let env = [("BANKROLL__BOOKS__FOLDER", "data")];
    let made = run_with(folder.path(), &env, &["init", "--dir", "casino", "--json"]).json();
    assert_eq!((&made["config"], &made["books"]), (&"casino/bankroll.toml".into(), &"casino/data/books.db".into()));
    run_with(folder.path(), &env, &["audit", "--dir", "casino"]).ok();
}

#[test]
fn a_second_init_is_refused_and_changes_nothing() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    fs::write(folder.path().join("bankroll.toml"), "# mine").unwrap();
    run(folder.path(), &["init"]).fails(1, &["books.db exists already", "nothing was changed"]);
    assert_eq!(fs::read_to_string(folder.path().join("bankroll.toml")).unwrap(), "# mine");
}

#[test]
fn a_configuration_without_books_is_kept() {
    let folder = folder();
    let config = folder.path().join("bankroll.toml");
    fs::write(&config, "# mine").unwrap();
    let set = ["init", "--set", "chain.id=5"];
    run(folder.path(), &set).fails(1, &["bankroll.toml exists already: change the values there"]);
    assert!(!folder.path().join("books.db").exists());
    run(folder.path(), &["init"]).ok();
    assert_eq!(fs::read_to_string(&config).unwrap(), "# mine");
    run(folder.path(), &["audit"]).ok();
}

#[test]
fn given_values_are_written_into_a_file_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    run(folder.path(), &["init", "--set", "chain.confirmations=3"]).ok();
    let shown = run(folder.path(), &["config", "show", "--json"]).json();
    assert!(shown.to_string().contains("\"chain.confirmations\":") || shown["chain"]["confirmations"] == 3, "{shown}");
    let mode = fs::metadata(folder.path().join("bankroll.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    run(folder.path(), &["init", "--dir", "other", "--set", "chain.confirmations=-1"])
        .fails(2, &["chain.confirmations"]);
    assert!(!folder.path().join("other").exists());
}

#[test]
fn books_without_a_configuration_are_not_touched_either() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    fs::remove_file(folder.path().join("bankroll.toml")).unwrap();
    run(folder.path(), &["init"]).fails(1, &["books.db exists already"]);
    assert!(!folder.path().join("bankroll.toml").exists());
}

#[test]
fn empty_books_are_made_in_the_database_that_is_named_and_once() {
    let (folder, url) = (folder(), needed_database());
    let env = [("BANKROLL__BOOKS__DATABASE", url.reveal())];
    let program = |args: &[&str]| run_with(folder.path(), &env, args);
    // Commands that need the books name the command that creates them, and it works.
    program(&["audit"]).fails(3, &["no books in this database", "create them with `bankroll init`"]);
    let doctor = program(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("✗ books") && doctor.stdout.contains("init --dir ."), "{}", doctor.stdout);
    let text = program(&["init"]).ok();
    assert!(text.contains("bankroll.toml (every key, with comments)") && text.contains("/books_"), "{text}");
    assert!(!folder.path().join("books.db").exists(), "the books are not in the folder");
    program(&["doctor", "--full"]).ok();
    program(&["audit"]).ok();
    program(&["init"]).fails(1, &["there are books in this database already; nothing was changed"]);
}

#[test]
fn a_database_named_in_the_folders_configuration_gets_its_books_and_the_configuration_stays() {
    let (folder, url) = (folder(), needed_database());
    let config = format!("[books]\ndatabase = \"{}\"\n", url.reveal());
    fs::write(folder.path().join("bankroll.toml"), &config).unwrap();
    let made = run(folder.path(), &["init", "--json"]).json();
    assert_eq!(made["books"], url.reveal());
    assert_eq!(fs::read_to_string(folder.path().join("bankroll.toml")).unwrap(), config);
    assert_eq!(run(folder.path(), &["accounts", "list"]).ok(), "no accounts match\n");
}

#[test]
fn the_owners_key_is_made_once_and_only_this_user_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("owner.key");
    let owner = run(folder.path(), &["init", "--json"]).json()["owner"].clone();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let key = fs::read_to_string(&path).unwrap();
    assert!(key.starts_with("0x") && key.trim().len() == 66, "0x and 64 digits");
    fs::create_dir(folder.path().join("second")).unwrap();
    fs::copy(&path, folder.path().join("second/owner.key")).unwrap();
    assert_eq!(run(folder.path(), &["init", "--dir", "second", "--json"]).json()["owner"], owner);
    assert_eq!(fs::read_to_string(folder.path().join("second/owner.key")).unwrap(), key);
    fs::create_dir(folder.path().join("third")).unwrap();
    fs::copy(&path, folder.path().join("third/owner.key")).unwrap();
    fs::write(folder.path().join("third/owner.key"), "correct horse").unwrap();
    run(folder.path(), &["init", "--dir", "third"]).fails(2, &["third/owner.key is not 0x and 64 hexadecimal digits"]);
    assert!(!folder.path().join("third/books.db").exists());
}
