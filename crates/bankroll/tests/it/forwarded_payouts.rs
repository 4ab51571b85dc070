//! Payouts that another node requests: accepted as the books would have written them, and refused otherwise.

use bankroll_ledger::{AccountId, Action, Amount, ColumnValue, Leg, Principal, Rejection, Request, Verdict};
use bankroll_nodes::{Answer, CallError, CallRefusal, Forwarder, PrincipalClaim};
use bankroll_orders::Address;
use bankroll_store::DatabaseUrl;
use bankroll_testkit::postgres::{needed_database, pairs};
use bankroll_withdrawals::{ApprovalPolicy, GasPayer, Intents, WithdrawalRequest};
use tempfile::TempDir;

use crate::{
    forwarding::{forwarder, name, set_up},
    program::command,
    running::{PATIENCE, Running, deployment},
};

/// One wei of Alice's, who has two.
fn wanted(account: &str, chain: &str) -> WithdrawalRequest {
    WithdrawalRequest {
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
        consent: None,
    }
}

fn request(wanted: &WithdrawalRequest, account: AccountId) -> Request {
    let policy = ApprovalPolicy { at_once: Amount::new(1_000_000_000_000_000_000) };
    Intents::new(policy).request(wanted, account, AccountId(0)).unwrap()
}

/// Books with two wei of Alice's, the node that holds them, and a node that forwards to it.
struct World {
    folder: TempDir,
    url: DatabaseUrl,
    accounts: [AccountId; 3],
    api: Forwarder,
}

impl World {
    fn new() -> (Self, Running) {
        let folder = deployment(&[("books-1", "books"), ("api-1", "api")]);
        let url = needed_database();
        let accounts = set_up(&url, 2);
        let api = forwarder(folder.path(), &url, "api-1");
        let world = Self { folder, url, accounts, api };
        let books = world.books(&[]);
        (world, books)
    }

    /// The node with the books, which pays on a chain that no server provides: what may be requested does not depend on
    /// it.
    fn books(&self, more: &[&str]) -> Running {
        let mut serve = command(self.folder.path());
        serve.env("BANKROLL__BOOKS__DATABASE", self.url.reveal()).env("BANKROLL__NODE__NAME", "books-1");
        serve.args(["serve", "--json", "--roles", "books", "--set", "node.listen=127.0.0.1:0"]);
        let chain = [
            "chain.rpc=http://127.0.0.1:1",
            "chain.genesis=0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
            "chain.wallet=0x00000000000000000000000000000000000000aa",
        ];
        for set in chain.iter().chain(more) {
            serve.args(["--set", set]);
        }
        let node = Running::spawn(serve, "books-1");
        node.until("took");
        node
    }

    fn ask(&self, request: &Request) -> Answer {
        self.api.apply(vec![request.clone()], PATIENCE).unwrap().wait().unwrap().remove(0)
    }

    fn is_refused(&self, request: Request) -> bool {
        match self.api.apply(vec![request], PATIENCE).unwrap().wait() {
            Err(CallError::Refused(CallRefusal::NotAllowed(PrincipalClaim::Fact { table }))) => {
                table == "withdrawal_requests"
            }
            other => panic!("{other:?}"),
        }
    }

    fn payouts(&self) -> Vec<(String, String)> {
        pairs(&self.url, "SELECT amount, status FROM withdrawal_requests")
    }
}

#[test]
fn a_node_can_ask_for_what_is_held_and_for_nothing_else() {
    let (world, _books) = World::new();
    let [custody, alice, _] = world.accounts;
    let sound = request(&wanted("arena/funds/1/alice", "eip155:1"), alice);
    let mut larger = sound.clone();
    let amount = larger.facts[0].set.iter_mut().find(|(column, _)| column == "amount").unwrap();
    amount.1 = ColumnValue::Amount(Amount::new(1_000));
    assert!(world.is_refused(larger), "one wei is held, and a thousand are paid");
    assert!(world.is_refused(request(&wanted("arena/funds/1/alice", "eip155:5"), alice)), "of another chain");
    assert!(world.is_refused(request(&wanted("arena/funds/1/alice", "eip155:1"), custody)), "from another account");
    let mut more = sound.clone();
    let Action::Legs(legs) = &mut more.action else { panic!("legs") };
    legs.push(Leg::Move { from: alice, to: custody, amount: Amount::new(1) });
    assert!(world.is_refused(more), "something else as well");
    let mut announced = sound.clone();
    announced.facts.clear();
    assert!(world.is_refused(announced), "a payout is announced, and none is written");
    assert_eq!(world.payouts(), []);

    let answer = world.ask(&sound);
    assert!(matches!(answer.verdict, Verdict::Applied(_)), "{answer:?}");
    assert_eq!(world.payouts(), [("1".to_owned(), "approved".to_owned())]);
}

/// The operator lowers the limit for payouts without approval. A caller who missed the answer retries, and must get the
/// first one.
#[test]
fn a_payout_asked_for_again_hears_its_first_answer_whatever_the_policy_is_by_now() {
    let (world, books) = World::new();
    let [_, alice, _] = world.accounts;
    let asked = request(&wanted("arena/funds/1/alice", "eip155:1"), alice);
    let first = world.ask(&asked);
    assert!(matches!(first.verdict, Verdict::Applied(_)) && !first.replayed, "{first:?}");
    books.signal("-TERM");
    assert_eq!(books.ended(), (0, String::new()));

    let _books = world.books(&["chain.pay_at_once=0"]);
    let again = world.ask(&asked);
    assert_eq!((again.seq, again.replayed, again.verdict), (first.seq, true, first.verdict));
    let mut other = asked;
    other.facts[0].set.retain(|(column, _)| column != "status");
    assert_eq!(world.ask(&other).verdict, Verdict::Rejected(Rejection::KeyReused), "under its key comes nothing else");
    assert_eq!(world.payouts(), [("1".to_owned(), "approved".to_owned())]);
    let mut next = wanted("arena/funds/1/alice", "eip155:1");
    next.request_id = name("leave-2");
    assert!(world.is_refused(request(&next, alice)), "a new one, approved by the policy of yesterday");
}
