//! Searching and timelines: by key, wallet, transaction and the other references.

use bankroll_ledger::{
    AccountId, AccountKind, Action, BlockRef, IdempotencyKey, Leg, Namespace, Principal, Record, References, Request,
    Scope, Settler, Verdict,
};
use bankroll_store::{JournalEntry, KeyQuery, Reader, SearchQuery, SearchSubject};

use crate::world::{World, game_server, hold, moving, name, request};

/// The places of the entries.
fn seqs(entries: &[JournalEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq.0).collect()
}

fn search(reader: &Reader, subject: SearchSubject) -> Vec<u64> {
    let all = reader.search(&SearchQuery::of(subject.clone())).unwrap();
    assert_eq!(all.next, None);
    // The same in pages of one, newest first.
    let mut query = SearchQuery { descending: true, most: 1, ..SearchQuery::of(subject) };
    let mut paged = Vec::new();
    loop {
        let page = reader.search(&query).unwrap();
        paged.extend(seqs(&page.items));
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    paged.reverse();
    assert_eq!(paged, seqs(&all.items));
    paged
}

fn timeline(reader: &Reader, subject: SearchSubject) -> Vec<u64> {
    let timeline = reader.timeline(&subject, 100).unwrap();
    assert!(timeline.complete);
    seqs(&timeline.entries)
}

fn key(text: &str) -> SearchSubject {
    SearchSubject::Key(KeyQuery { text: text.into(), namespace: None, scope: None })
}

/// A deposit that is reversed; a payout that is held, and posted by settlement; a spend that is refused.
fn story(world: &World) {
    let custody = world.account(AccountKind::Custody, Some("hot")); // 2
    let alice = world.account(AccountKind::Funds, Some("0xa1")); // 3
    world.account(AccountKind::Debt, Some("0xa1")); // 4
    let arena = world.account(AccountKind::World, None); // 5
    let ask = |namespace, text: &str, principal, legs, references| {
        let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: text.into() };
        let answer = world.ledger().apply(Request { references, ..request(key, principal, legs) }).unwrap();
        answer.seq.unwrap()
    };
    let block = Some(BlockRef { number: 7, hash: "0xb10c".into() });
    let deposit =
        References { deposit: Some("dep-1".into()), tx_hash: Some("0xFeed".into()), block, ..References::default() };
    let credited = ask(Namespace::Deposits, "credit-1", Principal::Indexer, vec![moving(custody, alice, 50)], deposit); // 6
    ask(Namespace::Deposits, "credit-2", Principal::Indexer, vec![moving(custody, alice, 70)], References::default()); // 7
    let intent = || References { intent: Some("pay-1".into()), ..References::default() };
    let held = vec![hold(alice, 40, None, Settler::Holder)];
    let held = ask(Namespace::Player, "0xa1/leave", Principal::User(name("0xa1")), held, intent()); // 8
    let hold = bankroll_ledger::HoldId::of(held, 0);
    let paid = vec![Leg::Post { hold, to: custody, amount: bankroll_ledger::Amount::new(40) }];
    let references = References { tx_hash: Some("0xbeef".into()), ..intent() };
    ask(Namespace::Payouts, "settle-1", Principal::System, paid, references); // 9
    let too_much = vec![moving(alice, arena, 1_000)];
    ask(
        Namespace::Client,
        "spawn",
        game_server(),
        too_much,
        References { hand: Some("h-1".into()), ..References::default() },
    ); // 10
    let key =
        IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::Server(name("arena")), text: "orphan-1".into() };
    let reverse = Request { action: Action::Reverse(credited), ..request(key, Principal::Indexer, Vec::new()) };
    world.ledger().apply(reverse).unwrap().effects().unwrap(); // 11
    // Records of another player, unrelated to the story.
    world.player("0xb2", 9); // 12, 13
    world.system(vec![crate::world::hold(AccountId(5), 3, None, Settler::System)]); // 14
}

#[test]
fn everything_is_found_by_what_it_is_about() {
    let mut world = World::new();
    story(&world);
    for _ in 0..2 {
        let reader = world.reader();
        let found = |subject: SearchSubject| search(&reader, subject);
        assert_eq!(found(key("credit-1")), [6]);
        assert_eq!(found(key("spawn")), [10], "a rejection is remembered, and found");
        assert_eq!(found(key("credit")), [] as [u64; 0], "a key is found whole or not at all");
        assert_eq!(found(SearchSubject::Deposit("dep-1".into())), [6]);
        assert_eq!(found(SearchSubject::Deposit("pay-1".into())), [] as [u64; 0], "an intent is no deposit");
        assert_eq!(found(SearchSubject::Intent("pay-1".into())), [8, 9]);
        assert_eq!(found(SearchSubject::Transaction("0xfeed".into())), [6], "chains write hashes in either case");
        assert_eq!(found(SearchSubject::Transaction("0xBEEF".into())), [9]);
        assert_eq!(found(SearchSubject::Hand("h-1".into())), [10]);
        assert_eq!(found(SearchSubject::Block("0xb10c".into())), [6]);
        for (reference, places) in [("dep-1", vec![6]), ("0xfeed", vec![6]), ("pay-1", vec![8, 9]), ("h-1", vec![10])] {
            assert_eq!(found(SearchSubject::Reference(reference.into())), places);
        }
        assert_eq!(found(SearchSubject::Wallet(name("0xa1"))), [3, 4, 6, 7, 8, 9, 10, 11]);
        assert_eq!(found(SearchSubject::Wallet(name("0xb2"))), [12, 13, 14]);
        assert_eq!(found(SearchSubject::Wallet(name("0xc3"))), [] as [u64; 0]);
        world.reopen();
    }
}

#[test]
fn timelines_follow_holds_and_reversals() {
    let mut world = World::new();
    story(&world);
    for _ in 0..2 {
        let reader = world.reader();
        assert_eq!(timeline(&reader, key("credit-1")), [6, 11], "the credit and its reversal");
        assert_eq!(timeline(&reader, key("orphan-1")), [6, 11], "the same seen from its end");
        assert_eq!(timeline(&reader, key("0xa1/leave")), [8, 9], "the hold and what became of it");
        assert_eq!(timeline(&reader, SearchSubject::Transaction("0xbeef".into())), [8, 9], "what a payment paid");
        assert_eq!(timeline(&reader, key("spawn")), [10]);
        assert_eq!(timeline(&reader, SearchSubject::Wallet(name("0xa1"))), [3, 4, 6, 7, 8, 9, 10, 11]);
        world.reopen();
    }
    let cut = world.reader().timeline(&SearchSubject::Wallet(name("0xa1")), 3).unwrap();
    assert_eq!(
        (seqs(&cut.entries), cut.complete),
        (vec![9, 10, 11], false),
        "the newest, and `complete` says that there are more"
    );
    let cut = world.reader().timeline(&key("credit-1"), 1).unwrap();
    assert_eq!((seqs(&cut.entries), cut.complete), (vec![6], false));
}

#[test]
fn one_text_can_be_the_key_of_several() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let ask = |namespace, principal, leg| {
        let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: "twin".into() };
        world.ledger().apply(request(key, principal, vec![leg])).unwrap().seq.unwrap().0
    };
    let spent = ask(Namespace::Client, game_server(), moving(alice, arena, 1));
    let held = ask(Namespace::System, Principal::System, hold(alice, 1, None, Settler::System));
    let find = |namespace: Option<Namespace>, scope: Option<&str>| {
        let scope = scope.map(|scope| scope.parse().unwrap());
        seqs(&world.reader().find_keys(&KeyQuery { text: "twin".into(), namespace, scope }).unwrap())
    };
    assert_eq!(find(None, None), [spent, held]);
    assert_eq!(find(Some(Namespace::System), None), [held]);
    assert_eq!(find(Some(Namespace::Client), Some("arena")), [spent]);
    assert_eq!(find(None, Some("plaza")), [] as [u64; 0]);
    assert_eq!(find(None, Some("@house")), [] as [u64; 0]);
}

#[test]
fn keys_are_found_in_runs_after_them_and_when_runs_are_damaged() {
    let mut world = World::in_folder(|options| options.keys_in_memory_max = 64);
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let spend = |number: u32| {
        let key = IdempotencyKey {
            namespace: Namespace::Client,
            scope: Scope::Server(name("arena")),
            text: format!("key-{number}"),
        };
        request(key, game_server(), vec![moving(alice, arena, 1)])
    };
    for call in 0..50 {
        let requests = (call * 20..(call + 1) * 20).map(spend).collect();
        world.ledger().submit(requests).unwrap().wait().unwrap();
    }
    let check = |world: &World, when: &str| {
        let reader = world.reader();
        for number in [0, 1, 63, 64, 500, 998, 999] {
            let found = reader.find_key(&spend(number).key).unwrap().unwrap_or_else(|| panic!("key-{number} {when}"));
            let Record::Decided { request, verdict: Verdict::Applied(_) } = found.record else { panic!("{when}") };
            assert_eq!(request.key.text, format!("key-{number}"), "{when}");
        }
        assert_eq!(reader.find_key(&spend(1_000).key).unwrap(), None, "{when}");
    };
    check(&world, "while the books are open");
    world.ledger.take().unwrap().close();
    check(&world, "when they are closed");
    let books = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    assert!(books.execute("UPDATE key_chunks SET data = zeroblob(100)", []).unwrap() > 0);
    check(&world, "when the chunks are torn");
    books.execute_batch("DELETE FROM key_runs").unwrap();
    check(&world, "when the runs are lost");
}

#[test]
fn a_key_of_a_server_without_accounts_is_found_by_its_text() {
    // One key in memory, so that all others are in runs; an index that is built at once, and one that is never built.
    for records in [1, u64::MAX] {
        let mut world = World::with(|options| {
            (options.keys_in_memory_max, options.index_records_max) = (1, records);
            options.index_pause = std::time::Duration::from_secs(if records == 1 { 0 } else { 3_600 });
        });
        let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
        let ask = |scope: &str, text: &str| {
            let key =
                IdempotencyKey { namespace: Namespace::Tables, scope: Scope::Server(name(scope)), text: text.into() };
            let answer = world.ledger().apply(request(key, Principal::Tables, vec![moving(alice, arena, 1)])).unwrap();
            answer.seq.unwrap().0
        };
        // Rejected, since a game server may not do that; and the rejection is stored.
        let (here, elsewhere, alone) =
            (ask("arena", "spawn-1"), ask("elsewhere", "spawn-1"), ask("elsewhere", "spawn-2"));
        for number in 0..40 {
            ask("arena", &format!("later-{number}"));
        }
        for _ in 0..2 {
            let reader = world.reader();
            assert_eq!(search(&reader, key("spawn-1")), [here, elsewhere]);
            assert_eq!(search(&reader, key("spawn-2")), [alone]);
            assert_eq!(search(&reader, key("spawn-3")), [] as [u64; 0]);
            // Closing makes what is missing of the index.
            world.reopen();
        }
    }
}
