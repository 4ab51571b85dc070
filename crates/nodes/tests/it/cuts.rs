//! The connection is cut at every record, of the handshake and of the call, in each way: the call is still
//! answered, and has happened once.

use crate::{
    proxy::{Cut, Manner, Proxy, Side},
    world::{PATIENCE, RelayAll, World},
};

#[test]
fn a_call_over_a_connection_that_is_cut_anywhere_happens_once() {
    let world = World::new();
    let proxy = Proxy::to(world.server.address());
    let (mut cuts, mut in_doubt) = (0, 0);
    for side in [Side::Asker, Side::Books] {
        for manner in [Manner::Lost, Manner::Half, Manner::Delivered] {
            let mut number = 0;
            loop {
                let tag = format!("{side:?}-{manner:?}-{number}").to_lowercase();
                // A new node each time, so that the connection is new, including the handshake.
                let caller = world.caller(&tag, "api", &proxy.address.to_string());
                proxy.arm(Cut { side, number, manner });
                // Several records long, so that a cut can be in the middle of a frame.
                let requests: Vec<_> = (0..200).map(|n| world.credit(&format!("{tag}-{n}"))).collect();
                let answers = caller.relay_all(requests, PATIENCE).unwrap().wait().unwrap();
                assert_eq!(answers.len(), 200, "{tag}");
                assert!(answers.iter().all(|answer| answer.verdict.is_applied()), "{tag}");
                if !proxy.disarm() {
                    break;
                }
                cuts += 1;
                in_doubt += usize::from(answers[0].replayed);
                number += 1;
            }
            assert!(number > 3, "{side:?} {manner:?}: the handshake alone has more records");
        }
    }
    println!("cut at {cuts} records; {in_doubt} times the call had happened before it was answered");
    assert!(in_doubt > 0, "no cut came between the call and its answer");
    let journal = world.journal();
    assert!(journal.values().all(|times| *times == 1), "something happened twice");
    assert_eq!(journal.len() as u128, world.funds());
}

trait IsApplied {
    fn is_applied(&self) -> bool;
}

impl IsApplied for bankroll_ledger::Verdict {
    fn is_applied(&self) -> bool {
        matches!(self, Self::Applied(_))
    }
}
