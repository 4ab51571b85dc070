//! The commands of `docs/heads.md`, run in a folder as the page describes it.

use std::{path::Path, process::Command};

use super::{FUNDS, casino, publish};
use crate::program::credit;

const PAGE: &str = include_str!("../../../../../docs/heads.md");

#[test]
fn every_command_of_the_page_works() {
    let casino = casino();
    credit(casino.path(), FUNDS, 100);
    publish(casino.path());
    let blocks: Vec<&str> = PAGE.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4, "keep one, check it, audit, a receipt");
    let programs = Path::new(env!("CARGO_BIN_EXE_bankroll")).parent().unwrap().display();
    for block in blocks {
        let mut shell = Command::new("sh");
        shell.args(["-euc", block]).current_dir(casino.path()).env_clear();
        let output = shell.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap())).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{block}{said}{}", String::from_utf8_lossy(&output.stdout));
    }
}
