//! Statements and balances at a time, with and without the index.

use std::time::Duration;

use bankroll_ledger::{AccountId, AccountKind, HoldId, Leg, Settler, Time};
use bankroll_store::{Direction, Page, StatementChange, StatementLine, StatementQuery, StoreError};

use crate::world::{World, hold, moving};

/// A line in short: place, what happened, how much, balance and held amount after it.
fn short(line: &StatementLine) -> String {
    let what = match line.change {
        StatementChange::Moved { direction: Direction::In, other } => format!("in from {other}"),
        StatementChange::Moved { direction: Direction::Out, other } => format!("out to {other}"),
        StatementChange::Held(_) => "held".into(),
        StatementChange::Posted(_) => "posted".into(),
        StatementChange::Released(_) => "released".into(),
        StatementChange::Expired(_) => "expired".into(),
    };
    format!("{} @{} {what} {} -> {} held {}", line.seq, line.at, line.amount, line.balance, line.held)
}

fn lines(page: &Page<StatementLine>) -> Vec<String> {
    page.items.iter().map(short).collect()
}

/// Alice is paid 100, spends 30, holds 40 of which 25 go to the wallet and the rest is released, and lets 10 expire.
fn alices_day(world: &World) -> AccountId {
    let alice = world.player("alice", 100); // records 2, 3, 4
    let (custody, arena) = (AccountId(1), world.account(AccountKind::World, None)); // record 5
    world.set_time(2_000_000);
    world.play(vec![moving(alice, arena, 30)]); // 6
    let held = world.system(vec![hold(alice, 40, None, Settler::System)]).seq.unwrap(); // 7
    world.set_time(3_000_000);
    let held = HoldId::of(held, 0);
    world.system(vec![Leg::Post { hold: held, to: custody, amount: bankroll_ledger::Amount::new(25) }]); // 8
    world.system(vec![Leg::Release { hold: held }]); // 9
    world.play(vec![moving(alice, arena, 5), hold(alice, 10, Some(4_000_000), Settler::Holder)]); // 10
    world.set_time(4_000_000); // 11, the expiry
    alice
}

const ALICES_DAY: [&str; 9] = [
    "4 @1000000 in from 1 100 -> 100 held 0",
    "6 @2000000 out to 3 30 -> 70 held 0",
    "7 @2000000 held 40 -> 70 held 40",
    "8 @3000000 posted 25 -> 70 held 15",
    "8 @3000000 out to 1 25 -> 45 held 15",
    "9 @3000000 released 15 -> 45 held 0",
    "10 @3000000 out to 3 5 -> 40 held 0",
    "10 @3000000 held 10 -> 40 held 10",
    "11 @4000000 expired 10 -> 40 held 0",
];

#[test]
fn a_statement_lists_every_change_with_both_legs_and_the_balance_after_it() {
    let mut world = World::new();
    let alice = alices_day(&world);
    // From the journal alone, then from the index that closing has built.
    for _ in 0..2 {
        let page = world.reader().statement(&StatementQuery::of(alice)).unwrap();
        assert_eq!(lines(&page), ALICES_DAY);
        assert_eq!(page.next, None);
        let spent = &page.items[1];
        assert_eq!(spent.key.as_ref().unwrap().text, "story-2");
        assert_eq!(spent.by, Some(crate::world::game_server()));
        world.reopen();
    }
    assert_eq!(world.reader().index_state().unwrap().covered.0, 11);
    // The other side of the same legs.
    let arena = world.reader().statement(&StatementQuery::of(AccountId(3))).unwrap();
    assert_eq!(lines(&arena), ["6 @2000000 in from 2 30 -> 30 held 0", "10 @3000000 in from 2 5 -> 35 held 0"]);
    // What a wallet must hold grows by what leaves it for a player.
    let custody = world.reader().statement(&StatementQuery::of(AccountId(1))).unwrap();
    assert_eq!(lines(&custody), ["4 @1000000 out to 2 100 -> 100 held 0", "8 @3000000 in from 2 25 -> 75 held 0"]);
}

#[test]
fn pages_follow_each_other_in_both_directions_and_cut_through_records() {
    let mut world = World::new();
    let alice = alices_day(&world);
    world.reopen();
    for descending in [false, true] {
        for most in 1..=4 {
            let mut query = StatementQuery { descending, most, ..StatementQuery::of(alice) };
            let mut all = Vec::new();
            loop {
                let page = world.reader().statement(&query).unwrap();
                assert!(page.items.len() <= most && !page.items.is_empty());
                all.extend(lines(&page));
                // As a caller would send it back: as text.
                query.after = page.next.map(|cursor| cursor.to_string().parse().unwrap());
                if query.after.is_none() {
                    break;
                }
            }
            if descending {
                all.reverse();
            }
            assert_eq!(all, ALICES_DAY, "pages of {most}");
        }
    }
}

#[test]
fn a_cursor_survives_new_lines_and_belongs_to_its_query() {
    let world = World::new();
    let alice = alices_day(&world);
    let first = world.reader().statement(&StatementQuery { most: 8, ..StatementQuery::of(alice) }).unwrap();
    let more = world.play(vec![moving(alice, AccountId(3), 1)]).seq.unwrap();
    let rest = StatementQuery { after: first.next.clone(), ..StatementQuery::of(alice) };
    let rest = world.reader().statement(&rest).unwrap();
    assert_eq!(lines(&rest), [ALICES_DAY[8], &format!("{more} @4000000 out to 3 1 -> 39 held 0")]);
    for foreign in [
        StatementQuery { after: first.next.clone(), ..StatementQuery::of(AccountId(3)) },
        StatementQuery { after: first.next.clone(), descending: true, ..StatementQuery::of(alice) },
    ] {
        assert!(matches!(world.reader().statement(&foreign), Err(StoreError::CursorMalformed)));
    }
    for nonsense in ["", "12", &"g".repeat(28), &"0".repeat(28), "ääääääääääääää"] {
        let refused = nonsense.parse().and_then(|after| {
            world.reader().statement(&StatementQuery { after: Some(after), ..StatementQuery::of(alice) })
        });
        assert!(matches!(refused, Err(StoreError::CursorMalformed)), "{nonsense:?}");
    }
}

#[test]
fn a_statement_can_be_cut_to_a_time() {
    let world = World::new();
    let alice = alices_day(&world);
    let check = |from: Option<u64>, to: Option<u64>, expected: &[&str]| {
        let query = StatementQuery { from: from.map(Time), to: to.map(Time), ..StatementQuery::of(alice) };
        assert_eq!(lines(&world.reader().statement(&query).unwrap()), expected, "{from:?} to {to:?}");
        let mut reversed = lines(&world.reader().statement(&StatementQuery { descending: true, ..query }).unwrap());
        reversed.reverse();
        assert_eq!(reversed, expected, "{from:?} to {to:?}, newest first");
    };
    check(None, None, &ALICES_DAY);
    check(Some(0), Some(1_999_999), &ALICES_DAY[..1]);
    check(Some(2_000_000), Some(2_000_000), &ALICES_DAY[1..3]);
    check(Some(2_000_001), None, &ALICES_DAY[3..]);
    check(None, Some(999_999), &[]);
    check(Some(4_000_001), None, &[]);
    check(Some(3_000_000), Some(2_000_000), &[]);
}

#[test]
fn balances_of_the_past_are_as_they_were() {
    let mut world = World::new();
    let alice = alices_day(&world);
    for _ in 0..2 {
        let at = |micros: u64| {
            let then = world.reader().balance_at(alice, Time(micros)).unwrap();
            (then.seq.map_or(0, |seq| seq.0), then.balance.units(), then.held.units())
        };
        assert_eq!(at(0), (0, 0, 0), "before the books began");
        assert_eq!(at(999_999), (0, 0, 0));
        assert_eq!(at(1_000_000), (4, 100, 0));
        assert_eq!(at(1_999_999), (4, 100, 0));
        assert_eq!(at(2_000_000), (7, 70, 40));
        assert_eq!(at(3_999_999), (10, 40, 10));
        assert_eq!(at(4_000_000), (11, 40, 0), "the balance is of record 10, what is held of record 11");
        assert_eq!(at(u64::MAX), (11, 40, 0));
        world.reopen();
    }
}

#[test]
fn the_index_grows_while_the_books_are_open_and_answers_are_never_stale() {
    let world = World::with(|options| {
        options.index_records_max = 16;
        options.index_pause = Duration::from_micros(1);
    });
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let reader = world.reader();
    let mut spent = 0;
    while reader.index_state().unwrap().covered.0 < 400 {
        spent += 1;
        let last = world.play(vec![moving(alice, arena, 1)]).seq.unwrap();
        let newest = StatementQuery { descending: true, most: 1, ..StatementQuery::of(arena) };
        let page = reader.statement(&newest).unwrap();
        assert_eq!((page.items[0].seq, page.items[0].balance.units()), (last, spent));
    }
    let all = reader.statement(&StatementQuery { most: 10_000, ..StatementQuery::of(arena) }).unwrap();
    let balances: Vec<u128> = all.items.iter().map(|line| line.balance.units()).collect();
    assert_eq!(balances, (1..=spent).collect::<Vec<_>>(), "each once, in order, over many runs");
    assert!(reader.index_state().unwrap().runs <= 48, "with so many, merging comes first");
}
