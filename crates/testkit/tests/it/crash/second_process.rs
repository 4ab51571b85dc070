//! One process writes to a folder; others are refused, and readers continue.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use bankroll_ledger::AccountId;
use bankroll_store::{Audit, Ledger, Reader, StoreError};
use bankroll_testkit::script::options;

use super::victim::{Line, Role, parse};

#[test]
fn crash_is_not_needed_to_refuse_a_second_process() {
    let folder = tempfile::tempdir().unwrap();
    let role = Role::usual(1);
    assert!(role.run(folder.path()).contains(&Line::Closed));
    let holding = Role { threads: 0, ..role };
    let mut child = holding.command(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(parse(&lines.next().unwrap().unwrap()), Line::Open);

    let refused = Ledger::open(options(folder.path().to_str().unwrap(), 8));
    let holder = format!("process {}", child.id());
    assert!(matches!(&refused, Err(StoreError::InUse { holder: printed, .. }) if *printed == holder), "{refused:?}");
    let other = role.run(folder.path());
    assert!(matches!(other.as_slice(), [Line::Other(printed)] if printed.contains("InUse")), "{other:?}");

    let reader = Reader::open(folder.path()).unwrap();
    assert!(reader.account(AccountId(1)).unwrap().is_some());
    let (report, _) = Audit::new(reader).run(|_| {}).unwrap();
    assert!(report.rows > 0);

    // A killed process holds no lock.
    child.kill().unwrap();
    child.wait().unwrap();
    Ledger::open(options(folder.path().to_str().unwrap(), 8)).unwrap().close();
}
