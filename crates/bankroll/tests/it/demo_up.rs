//! A demo without `--exit` leaves its service up, and what it prints can be called.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{
    demo_loop::next,
    program::{demo_command, folder, hold, run_with},
};

const LAST_LINE: &str = "end it with Ctrl-C";

/// A demo that has ended its game, and the lines that it printed.
fn started(folder: &Path) -> (Child, Vec<String>) {
    let mut demo = demo_command(folder);
    demo.args(["--players", "20", "--seed", "7", "--ticks", "30"]);
    let mut child = demo.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut printed = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let is_last = line == LAST_LINE;
        printed.push(line);
        if is_last {
            break;
        }
    }
    assert_eq!(printed.last().map(String::as_str), Some(LAST_LINE), "it never stayed up: {printed:#?}");
    (child, printed)
}

/// Runs a printed line as a reader does who pastes it into a shell.
fn pasted(line: &str) -> Value {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "curl must be installed, and {line} must work: {stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn the_printed_curl_lines_work_and_ctrl_c_ends_the_service() {
    let folder = folder();
    let (mut child, printed) = started(folder.path());
    let has = |what: &str| printed.iter().any(|line| line.contains(what));
    for what in
        ["✓ books balance to the wei", "the Funds API is up at http://127.0.0.1:", "/docs", "owner.key", "arena.key"]
    {
        assert!(has(what), "{what:?} is not in: {printed:#?}");
    }
    let curls: Vec<&String> = printed.iter().filter(|line| line.starts_with("  curl ")).collect();
    let [server, world, food] = curls[..] else { panic!("three lines: {curls:#?}") };
    let shown = pasted(server);
    assert_eq!((&shown["server"], &shown["buy_in"]), (&"arena".into(), &"10000000000000000".into()), "{shown}");
    let shown = pasted(world);
    assert_eq!((&shown["account"], &shown["balance"]), (&"arena/world/1".into(), &"0".into()), "{shown}");
    let moved = pasted(food);
    let posting = &moved["postings"][0];
    assert_eq!(
        (&posting["from"], &posting["to"], &posting["amount"], &posting["to_balance"]),
        (&"arena/ecosystem/1".into(), &"arena/world/1".into(), &"1".into(), &"1".into()),
        "{moved}"
    );
    assert_eq!(pasted(food), moved, "the same request again has the same answer");
    assert_eq!(pasted(world)["balance"], "1");

    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    hold(&folder.path().join("bankroll-demo")).close();
    let report = next(folder.path());
    assert_eq!(report["leftovers"]["swept"], "0", "what the reader put into the world went back: {report}");
    assert_eq!(report["reconciliation"]["ok"], true, "{report}");
}

#[test]
fn a_port_that_is_taken_is_named_and_another_is_used() {
    let (folder, taken) = (folder(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = taken.local_addr().unwrap().to_string();
    let env = [("BANKROLL__API__LISTEN", address.as_str())];
    let run = run_with(folder.path(), &env, &["demo", "--exit", "--players", "4", "--ticks", "2"]);
    assert!(run.stderr.contains(&format!("{address} is taken; the Funds API uses another port")), "{}", run.stderr);
    assert!(run.ok().contains("✓ books balance to the wei"));
}
