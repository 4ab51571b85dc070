//! No command and no option with a value is without a row.

use std::collections::BTreeSet;

use super::{TABLES, row::Row};
use crate::program::{folder, run};

fn rows() -> impl Iterator<Item = Vec<String>> {
    TABLES.into_iter().flatten().map(|row: &Row| row.words().1)
}

/// The commands, and the options with a value, that the help of a command lists.
fn listed(path: &[String]) -> (Vec<String>, Vec<String>) {
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(folder().path(), &args).ok();
    let section = |title: &'static str| {
        let after = help.lines().skip_while(move |line| *line != title).skip(1);
        after.take_while(|line| !line.is_empty()).map(str::trim_start)
    };
    let commands = section("Commands:").filter_map(|line| line.split_whitespace().next());
    let commands = commands.filter(|name| *name != "help").map(str::to_owned).collect();
    let options = section("Options:").filter(|line| line.starts_with("--"));
    let options = options.filter_map(|line| line.split_once(" <").map(|(name, _)| name.to_owned())).collect();
    (commands, options)
}

fn find_missing(path: &[String], missing: &mut Vec<String>) {
    let name = path.join(" ");
    let of_command: Vec<Vec<String>> = rows().filter(|words| words.starts_with(path)).collect();
    if of_command.is_empty() {
        missing.push(format!("`{name}` has no row"));
    }
    let (commands, options) = listed(path);
    for option in options {
        if !of_command.iter().any(|words| words.contains(&option)) {
            missing.push(format!("`{name}` has no row with {option}"));
        }
    }
    for command in commands {
        find_missing(&[path, &[command]].concat(), missing);
    }
}

#[test]
fn every_command_and_every_option_with_a_value_has_a_row() {
    let mut missing = Vec::new();
    find_missing(&[], &mut missing);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn there_are_at_least_216_rows_and_none_twice() {
    let all: Vec<&str> = TABLES.into_iter().flatten().map(|Row(words, ..)| *words).collect();
    assert!(all.len() >= 216, "{}", all.len());
    let different: BTreeSet<&&str> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}
