//! Payouts that another node asks for: taken as the books would have written them, and refused otherwise.

use bankroll_ledger::{AccountId, Action, Amount, Leg, Principal, Request, Value};
use bankroll_nodes::{CallError, Claim, Refusal};
use bankroll_orders::Address;
use bankroll_testkit::postgres::{needed_database, pairs};
use bankroll_withdrawals::{GasPayer, Policy, Wanted, intent};

use crate::{
    forwarding::{credit, forwarder, name, set_up},
    program::command,
    running::{PATIENCE, Running, deployment},
};

/// One wei of Alice's, who has two.
fn wanted(account: &str, chain: &str) -> Wanted {
    Wanted {
        principal: Principal::GameServer(name("arena")),
        server: name("arena"),
        request_id: name("leave-1"),
        wallet: name("alice"),
        account: account.parse().unwrap(),
        chain: name(chain),
        to: Address([7; 20]),
        amount: Amount::new(1),
        gas: GasPayer::House,
        exit: None,
    }
}

fn request(wanted: &Wanted, account: AccountId) -> Request {
    let policy = Policy { at_once: Amount::new(1_000_000_000_000_000_000) };
    intent::request(wanted, policy, account, AccountId(0)).unwrap()
}

#[test]
fn a_node_can_ask_for_what_is_held_and_for_nothing_else() {
    let (folder, url) =
        (deployment(&[("books-1", "books"), ("indexer-1", "indexer"), ("api-1", "api")]), needed_database());
    let accounts = set_up(&url);
    let mut serve = command(folder.path());
    serve.env("BANKROLL__BOOKS__DATABASE", url.reveal()).env("BANKROLL__NODE__NAME", "books-1");
    serve.args(["serve", "--json", "--roles", "books", "--set", "node.listen=127.0.0.1:0"]);
    // Nobody answers there: whether a payout may be asked for does not depend on it.
    for set in [
        "chain.rpc=http://127.0.0.1:1",
        "chain.genesis=0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
        "chain.wallet=0x00000000000000000000000000000000000000aa",
    ] {
        serve.args(["--set", set]);
    }
    let node = Running::spawn(serve, "books-1");
    node.until("took");
    let (indexer, api) = (forwarder(folder.path(), &url, "indexer-1"), forwarder(folder.path(), &url, "api-1"));
    let two = ["credit-1", "credit-2"].map(|key| credit(accounts, key.into()));
    indexer.apply(two.to_vec(), PATIENCE).unwrap().wait().unwrap();

    let [custody, alice] = accounts;
    let sound = request(&wanted("arena/funds/1/alice", "eip155:1"), alice);
    let refused = |request: Request| match api.apply(vec![request], PATIENCE).unwrap().wait() {
        Err(CallError::Refused(Refusal::NotAllowed(Claim::Fact { table }))) => table == "withdrawal_requests",
        other => panic!("{other:?}"),
    };
    let mut dearer = sound.clone();
    let amount = dearer.facts[0].set.iter_mut().find(|(column, _)| column == "amount").unwrap();
    amount.1 = Value::Amount(Amount::new(1_000));
    assert!(refused(dearer), "one wei is held, and a thousand are paid");
    assert!(refused(request(&wanted("arena/funds/1/alice", "eip155:5"), alice)), "of another chain");
    assert!(refused(request(&wanted("arena/funds/1/alice", "eip155:1"), custody)), "from another account");
    let mut more = sound.clone();
    let Action::Legs(legs) = &mut more.action else { panic!("legs") };
    legs.push(Leg::Move { from: alice, to: custody, amount: Amount::new(1) });
    assert!(refused(more), "something besides");
    let mut announced = sound.clone();
    announced.facts.clear();
    assert!(refused(announced), "a payout is announced, and none is written");
    assert_eq!(pairs(&url, "SELECT id, status FROM withdrawal_requests"), []);

    let answers = api.apply(vec![sound], PATIENCE).unwrap().wait().unwrap();
    assert!(answers[0].seq.is_some(), "{answers:?}");
    let rows = pairs(&url, "SELECT amount, status FROM withdrawal_requests");
    assert_eq!(rows, [("1".to_owned(), "approved".to_owned())]);
}
