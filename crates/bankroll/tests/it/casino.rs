//! Small books with a known story, for the commands that read.

use std::path::Path;

use bankroll_ledger::{
    AccountId, Action, Amount, Asset, Event, HoldId, IdempotencyKey, Leg, Namespace, Principal, References, Request,
    Scope, Seq, Settler, Time, Unit,
};
use bankroll_store::{Clock, Ledger, LedgerOptions};

/// 2026-11-15T08:00:00Z.
const MORNING: u64 = 1_794_729_600_000_000;
const HOUR: u64 = 3_600_000_000;

/// The ledger of the story.
struct Casino {
    ledger: Ledger,
}

impl Casino {
    fn ask(
        &self,
        namespace: Namespace,
        text: &str,
        principal: Principal,
        action: Action,
        references: References,
    ) -> Seq {
        let key = IdempotencyKey { namespace, scope: Scope::Server("arena".parse().unwrap()), text: text.into() };
        let event = |deposit: &String| Event {
            kind: "deposit.credited".parse().unwrap(),
            resource: deposit.clone(),
            body: "{}".into(),
        };
        let events = references.deposit.iter().map(event).collect();
        let request = Request { key, principal, confirmation: None, action, references, facts: Vec::new(), events };
        self.ledger.apply(request).unwrap().seq.unwrap()
    }
}

/// The story, an hour between its steps from 08:00 on; amounts in millionths of a USDX:
///
/// | record | what |
/// | --- | --- |
/// | 1 to 4 | the asset; the wallet `hot`, the funds of `0xa1`, the world |
/// | 5 | 08:00 `credit-1`: 1.5 deposited to 0xa1, deposit `dep-1`, transaction `0xFeed` |
/// | 6 | 09:00 `=spawn`: 0.5 to the world |
/// | 7 | 10:00 `0xa1/leave`: 0.4 held for the payout `pay-1` |
/// | 8 | 11:00 `settle-1`: 0.4 paid, transaction `0xbeef` |
/// | 9 | 12:00 `too-much`: refused |
pub fn open(folder: &Path) {
    let (clock, hand) = Clock::manual(Time(MORNING));
    let ledger = Ledger::create(LedgerOptions { clock, ..LedgerOptions::new(folder) }).unwrap();
    let dollars = Asset { chain: "eip155:1".parse().unwrap(), unit: Unit::Native, decimals: 6, symbol: "USDX".into() };
    ledger.list_asset(dollars).unwrap();
    let names = ["arena/custody/1/hot", "arena/funds/1/0xa1", "arena/world/1"].map(|name| name.parse().unwrap());
    ledger.open_accounts(&Principal::System, names.to_vec()).unwrap();
    let [custody, funds, world] = [1, 2, 3].map(AccountId);
    let casino = Casino { ledger };
    let moving = |from, to, amount| Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(amount) }]);
    let later = || hand.fetch_add(HOUR, std::sync::atomic::Ordering::SeqCst);

    let about = References { deposit: Some("dep-1".into()), tx_hash: Some("0xFeed".into()), ..References::default() };
    casino.ask(Namespace::Deposits, "credit-1", Principal::Indexer, moving(custody, funds, 1_500_000), about);
    later();
    let server = || Principal::GameServer("arena".parse().unwrap());
    casino.ask(Namespace::Client, "=spawn", server(), moving(funds, world, 500_000), References::default());
    later();
    let intent = || References { intent: Some("pay-1".into()), ..References::default() };
    let hold = Leg::Hold { account: funds, amount: Amount::new(400_000), expires: None, settler: Settler::Holder };
    let player = Principal::User("0xa1".parse().unwrap());
    let held = casino.ask(Namespace::Player, "0xa1/leave", player, Action::Legs(vec![hold]), intent());
    later();
    let post = Leg::Post { hold: HoldId::of(held, 0), to: custody, amount: Amount::new(400_000) };
    let about = References { tx_hash: Some("0xbeef".into()), ..intent() };
    casino.ask(Namespace::Payouts, "settle-1", Principal::System, Action::Legs(vec![post]), about);
    later();
    let last =
        casino.ask(Namespace::Client, "too-much", server(), moving(funds, world, 9_000_000), References::default());
    assert_eq!(last, Seq(9));
    casino.ledger.close();
}
