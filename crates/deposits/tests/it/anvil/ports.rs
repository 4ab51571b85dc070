//! Another chain answers where ours did. Class 40 of the attack list.

use std::{
    io::copy,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use bankroll_chains_evm::{Disagreement, RpcError};
use bankroll_deposits::{ScanError, ScanOutcome};
use serde_json::json;

use super::{
    chain::{Anvil, BEGINS},
    world::AnvilWorld,
};
use crate::world::{ALICE, BOB, hot};

/// A port of which we decide who answers there.
#[derive(Clone, Default)]
struct Port {
    target: Arc<Mutex<String>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Port {
    /// The URL of a port that leads there.
    fn to(&self, target: &Anvil) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        self.leads_to(target);
        let port = self.clone();
        // Ends with the process: it only waits.
        std::thread::spawn(move || listener.incoming().flatten().for_each(|caller| port.connect(&caller)));
        url
    }

    /// From here on. Connections that are open are closed.
    fn leads_to(&self, target: &Anvil) {
        self.target.lock().unwrap().clone_from(&target.address);
        self.close();
    }

    /// From here on it leads nowhere.
    fn leads_nowhere(&self) {
        self.target.lock().unwrap().clear();
        self.close();
    }

    fn close(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn connect(&self, caller: &TcpStream) {
        let target = self.target.lock().unwrap();
        let Ok(target) = TcpStream::connect(&*target) else { return };
        self.open.lock().unwrap().extend([caller.try_clone().unwrap(), target.try_clone().unwrap()]);
        for (from, to) in [(caller, &target), (&target, caller)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    }
}

fn is_another_chain(error: &ScanError) -> bool {
    let ScanError::Node(RpcError::Disagreeing(found)) = error else { return false };
    matches!(found, Disagreement::Genesis { .. } | Disagreement::ChainId { .. })
}

/// Another chain, of ten blocks, on which our address is paid: it is the same on every chain.
fn another_chain(chain_id: &str, begins: &str) -> Anvil {
    let theirs = Anvil::start_as(chain_id, begins);
    let payer = theirs.ask("eth_accounts", json!([]))[0].take();
    theirs.ask("eth_sendTransaction", json!([{ "from": payer, "to": hot(), "value": "0x1388" }]));
    theirs.ask("anvil_mine", json!(["0xa"]));
    theirs
}

/// All blocks that we know are also blocks of the other chain, as after a split: its next ones fit on ours.
#[test]
fn blocks_of_another_chain_are_not_read_even_if_they_continue_ours() {
    let (anvil, port) = (Anvil::start(), Port::default());
    let node = anvil.node_at(&port.to(&anvil));
    let mut world = AnvilWorld::on(anvil, node);
    world.scan_all();
    let theirs = another_chain("1338", BEGINS);
    port.leads_to(&theirs);
    let stopped = (0..3).map(|_| world.scan().unwrap_err()).collect::<Vec<_>>();
    assert!(stopped[1..].iter().all(is_another_chain), "{stopped:?}");
    world.expect_deposits(&[]);
    port.leads_to(&world.anvil);
    world.pay(ALICE, 1_000);
    world.mine(1);
    let _ = world.scan();
    world.settle(3);
    world.expect_books(&[("@house/custody/1/hot", 1_000), ("arena/unallocated/1/alice", 1_000)]);
}

#[test]
fn another_chain_on_the_same_port_credits_nothing_and_takes_nothing_back() {
    let (anvil, port) = (Anvil::start(), Port::default());
    let node = anvil.node_at(&port.to(&anvil));
    let mut world = AnvilWorld::on(anvil, node);
    world.pay(ALICE, 1_000);
    world.settle(3);
    let booked = [("@house/custody/1/hot", 1_000), ("arena/unallocated/1/alice", 1_000)];
    world.expect_books(&booked);
    // Another first block; the same, and another id, as after a split of a chain.
    for (chain_id, begins) in [("1337", "1600000000"), ("1338", BEGINS)] {
        let theirs = another_chain(chain_id, begins);
        // A connection that is opened anew between two requests is nothing that a client notices, unless it had begun
        // to use the old one.
        port.leads_to(&theirs);
        let stopped = (0..3).map(|_| world.scan().unwrap_err()).collect::<Vec<_>>();
        assert!(stopped[1..].iter().all(is_another_chain), "{stopped:?}");
        // A request that failed is.
        port.leads_nowhere();
        let stopped = world.scan().unwrap_err();
        assert!(matches!(stopped, ScanError::Node(RpcError::Unavailable(_))), "{stopped:?}");
        port.leads_to(&theirs);
        let stopped = world.scan().unwrap_err();
        assert!(is_another_chain(&stopped), "{stopped:?}");
        assert!(world.book().is_idle());
        world.expect_books(&booked);
        port.leads_to(&world.anvil);
        let _ = world.scan();
        assert_eq!(world.scan().unwrap(), ScanOutcome::UpToDate);
    }
    world.pay(BOB, 500);
    world.settle(3);
    world.expect_books(&[
        ("@house/custody/1/hot", 1_500),
        ("arena/unallocated/1/alice", 1_000),
        ("arena/unallocated/1/bob", 500),
    ]);
    world.expect_solvent();
}
