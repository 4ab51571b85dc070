//! A demo that is killed, or whose disk is full: players get their stakes back, and the output says what happened.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Stdio},
};

use bankroll_ledger::{AccountId, AccountKind, Record, Seq, Verdict};
use bankroll_store::{AccountFilter, Reader};

use crate::{
    demo_loop::{next, pays, start, until},
    program::{API_ANYWHERE, Run, command, folder, run},
};

/// What the journal says about the world of the last game.
#[derive(Default)]
struct WorldInJournal {
    /// What each player has put into it since they last left it.
    stakes: BTreeMap<AccountId, u128>,
    balance: u128,
    /// The moves by which the next demo emptied it, by the first word of their keys.
    returned: BTreeMap<AccountId, u128>,
    swept: u128,
}

fn world_in_journal(folder: &Path) -> WorldInJournal {
    let reader = Reader::open(folder.join("bankroll-demo")).unwrap();
    let all = reader.accounts(&AccountFilter::default(), usize::MAX).unwrap();
    let of = |kind: AccountKind| all.iter().filter(move |account| account.name.kind == kind);
    let world = of(AccountKind::World).next().unwrap();
    let players: BTreeSet<AccountId> = of(AccountKind::Funds).map(|account| account.id).collect();
    let mut found = WorldInJournal { balance: world.balance.units(), ..WorldInJournal::default() };
    let mut run = 0_u64;
    for entry in reader.journal_after(Seq(0), usize::MAX).unwrap() {
        let Record::Decided { request, verdict: Verdict::Applied(effects) } = entry.record else { continue };
        // The service puts its own word in front of a game server's key.
        let key = request.key.text.strip_prefix("key/").unwrap_or(&request.key.text);
        let word = key.split(['-', '/']).next().unwrap().to_owned();
        for posting in effects.postings {
            let amount = posting.amount.units();
            if posting.to == world.id && players.contains(&posting.from) {
                // A new run has players of its own; what the last one left was settled before.
                let this: u64 = word.parse().unwrap();
                if this != run {
                    (run, found.stakes) = (this, BTreeMap::new());
                }
                *found.stakes.entry(posting.from).or_default() += amount;
            } else if posting.from == world.id && word == "sweep" {
                found.swept += amount;
            } else if posting.from == world.id && word == "return" {
                *found.returned.entry(posting.to).or_default() += amount;
            }
            if posting.from == world.id {
                found.stakes.remove(&posting.to);
            }
        }
    }
    found
}

/// Whether the line counts players in the world.
fn plays(line: &str) -> bool {
    line.contains(" playing ") && !line.contains(" 0 playing ")
}

/// Whether the line is of the fourth second or a later one.
fn is_late(line: &str) -> bool {
    let seconds = line.split_once(" s ").and_then(|(seconds, _)| seconds.trim().parse::<u64>().ok());
    seconds.is_some_and(|seconds| seconds >= 4)
}

#[test]
fn stakes_in_the_world_of_a_killed_demo_go_back_to_their_players() {
    let moments: [fn(&str) -> bool; 3] = [plays, |line| pays(line) && plays(line), |line| is_late(line) && plays(line)];
    for moment in moments {
        let folder = folder();
        let (mut child, mut lines) = start(folder.path());
        until(&mut lines, moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = world_in_journal(folder.path());
        let staked: u128 = killed.stakes.values().sum();
        assert!(staked > 0 && killed.balance > 0, "players were in the world");

        let report = next(folder.path());
        assert_eq!((&report["audit"]["ok"], &report["reconciliation"]["difference"]), (&true.into(), &"0".into()));
        let settled = world_in_journal(folder.path());
        let returned: u128 = settled.returned.values().sum();
        // All of it is somewhere, and the game's budget gets nothing before every player has their stakes.
        assert_eq!(returned + settled.swept, killed.balance);
        assert_eq!(returned, staked.min(killed.balance));
        let share = |(player, stake): (&AccountId, &u128)| {
            let given = settled.returned.get(player).copied().unwrap_or(0);
            // In proportion: rounded down, and one wei more for some players.
            let rounded = stake * returned / staked;
            given <= *stake && (rounded..=rounded + 1).contains(&given)
        };
        assert!(killed.stakes.iter().all(share), "{:?} of {:?}", settled.returned, killed.stakes);
        assert!(settled.returned.keys().all(|player| killed.stakes.contains_key(player)));
        let leftovers = &report["leftovers"];
        let figures = ["swept", "stakes", "returned", "to_ecosystem"].map(|name| leftovers[name].as_str().unwrap());
        let expected = [killed.balance, staked, returned, settled.swept].map(|amount| amount.to_string());
        assert_eq!(figures, expected, "{leftovers}");
        assert_eq!(leftovers["players"], killed.stakes.len());
    }
}

#[test]
fn a_demo_after_a_killed_one_says_where_the_stakes_went_and_its_counts_agree() {
    let folder = folder();
    let (mut child, mut lines) = start(folder.path());
    until(&mut lines, pays);
    child.kill().unwrap();
    child.wait().unwrap();
    let next = run(folder.path(), &["demo", "--exit", "--players", "4", "--ticks", "2"]);
    assert_eq!(next.code, 0, "{}{}", next.stdout, next.stderr);
    for part in ["the last demo was interrupted; this one finishes what it left:", " in its world"] {
        assert!(next.stderr.contains(part), "{part:?} is not in: {}", next.stderr);
    }
    assert!(next.stdout.starts_with("4 players, "), "{}", next.stdout);
    let left = next.stdout.lines().find(|line| line.starts_with("  left "));
    assert_eq!(left, Some("  left      0 exits, 0 payouts on chain"), "{}", next.stdout);
    assert!(next.stdout.contains("\n  earlier   of the interrupted demo: "), "{}", next.stdout);
}

/// Runs a demo in which the disk is full for some files from the given call on.
fn on_full_disk(folder: &Path, call: &str, files: &[&str], when: &str) -> Run {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(found.is_ok_and(|status| status.success()), "strace is missing: install it with `apt-get install strace`");
    let mut strace = Command::new("strace");
    strace.args(["--quiet=all", "--seccomp-bpf", "-f", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
    strace.arg("-e").arg(format!("inject={call}:error=ENOSPC:when={when}"));
    for file in files {
        strace.arg("-P").arg(folder.join("bankroll-demo").join(file));
    }
    let program = command(folder);
    strace.arg(program.get_program()).args(["demo", "--exit", "--players", "5", "--seconds", "1"]);
    let output = strace.current_dir(folder).envs(API_ANYWHERE).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_disk_that_is_full_before_the_first_payment_ends_the_demo_with_its_reason() {
    let reason = "error: the disk is full: nothing was lost; free some space and start the demo again";
    let folder = folder();
    // The chain cannot store its second block: no player can pay.
    on_full_disk(folder.path(), "write", &["chain.jsonl"], "3+").fails(1, &[reason, "cannot write to"]);
    // The books cannot store anything, and there is no space for another file either.
    on_full_disk(folder.path(), "pwrite64,write", &["books.db-wal", ".space-check"], "1+").fails(1, &[reason]);
    // With space again, the demo continues.
    assert_eq!(next(folder.path())["reconciliation"]["ok"], true);
}
