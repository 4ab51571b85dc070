//! `strace`: stops the signer at a chosen system call on its memory, lets the call fail, or records all calls.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
};

use super::files;

/// The calls by which SQLite changes files or makes changes durable.
const WRITES_AND_SYNCS: [&str; 5] = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink"];

/// A tracer of the memory's files only; add the program.
pub fn strace_on_memory(log: &Path, folder: &Path, fault: Option<(&str, &str)>) -> Command {
    let mut command = strace(log);
    command.args(files(folder).into_iter().flat_map(|file| ["-P".into(), file.into_os_string()]));
    match fault {
        None => command.args(["-e", &format!("trace={}", WRITES_AND_SYNCS.join(","))]),
        Some((call, fault)) => command.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fault}")]),
    };
    command
}

/// A tracer that records syncs and sends.
pub fn strace_answers(log: &Path) -> Command {
    let mut command = strace(log);
    command.args(["-e", "trace=fsync,fdatasync,sendto"]);
    command
}

/// How many syncs a thread made before each of its answers, since the one before.
pub fn syncs_before_answers(log: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(log).unwrap();
    let (mut since, mut answers) = (BTreeMap::new(), Vec::new());
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let syncs = since.entry(thread).or_insert(0);
        match call.trim_start().split('(').next() {
            Some("sendto") => answers.push(std::mem::take(syncs)),
            Some("fsync" | "fdatasync") if call.ends_with("= 0") => *syncs += 1,
            _ => {}
        }
    }
    answers
}

fn strace(log: &Path) -> Command {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(
        found.is_ok_and(|status| status.success()),
        "strace is missing: install it with `apt-get install strace`, or run `cargo xtask test`"
    );
    let mut command = Command::new("strace");
    command.arg("-f").arg("-o").arg(log);
    command
}

/// For each call, the most that one thread made of it: injections count for each thread apart.
pub fn most_of_a_thread(log: &Path) -> BTreeMap<&'static str, u32> {
    let text = std::fs::read_to_string(log).unwrap();
    let mut counts: BTreeMap<(&str, &'static str), u32> = BTreeMap::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let name = rest.trim_start().split('(').next().unwrap_or_default();
        if let Some(call) = WRITES_AND_SYNCS.into_iter().find(|call| *call == name) {
            *counts.entry((thread, call)).or_default() += 1;
        }
    }
    let mut most = BTreeMap::new();
    for ((_, call), count) in counts {
        let largest = most.entry(call).or_insert(0);
        *largest = count.max(*largest);
    }
    most
}
