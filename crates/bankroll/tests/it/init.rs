//! `bankroll init`: makes what is missing, overwrites nothing.

use std::fs;

use crate::program::{folder, run};

#[test]
fn a_new_folder_has_a_configuration_and_empty_books() {
    let folder = folder();
    let made = run(folder.path(), &["init", "--dir", "casino", "--json"]).json();
    assert_eq!(made["config"], "casino/bankroll.toml");
    assert_eq!(made["books"], "casino/books.db");
    run(folder.path(), &["doctor", "--full", "--dir", "casino"]).ok();
    assert_eq!(run(folder.path(), &["accounts", "list", "--dir", "casino"]).ok(), "no account\n");
}

#[test]
fn a_second_init_is_refused_and_changes_nothing() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    fs::write(folder.path().join("bankroll.toml"), "# mine").unwrap();
    run(folder.path(), &["init"]).fails(1, &["bankroll.toml is there already", "nothing was changed"]);
    assert_eq!(fs::read_to_string(folder.path().join("bankroll.toml")).unwrap(), "# mine");
}

#[test]
fn books_without_a_configuration_are_not_touched_either() {
    let folder = folder();
    run(folder.path(), &["init"]).ok();
    fs::remove_file(folder.path().join("bankroll.toml")).unwrap();
    run(folder.path(), &["init"]).fails(1, &["books.db is there already"]);
    assert!(!folder.path().join("bankroll.toml").exists());
}
