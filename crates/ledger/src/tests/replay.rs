//! Replay: the journal alone gives the books, and a record that does not follow from it is detected.

use super::story::{Story, everything};
use crate::{
    AccountId, AccountKind, AccountPolicy, Action, Amount, Asset, AssetId, Effects, HoldChange, Principal, Record,
    Rejection, Replay, Role, Roles, Seq, Time, Unit, Verdict,
};

const SCENARIO: &str = "
    open alice.debt arena/debt/1/alice
    d1 indexer: move vault -> alice 100, make deposits/x1 state=credited  applied
    k1 game_server: move alice -> world 30                                applied
    k2 game_server: hold alice 20 until 500                               applied h1
    k3 game_server: move alice -> world 999                               insufficient_funds
    k4 game_server: post h1 -> world 5                                    applied
    d2 indexer: move vault -> alice 100, make deposits/x1 state=credited  guard_failed
    r1 indexer: reverse d1                                                applied
    r2 indexer: reverse d1                                                already_reversed
    at 500
    expire h1
    deposit d3 70 -> alice";

fn finished_story() -> Story {
    let mut story = Story::new();
    story.run(SCENARIO);
    assert_eq!(story.standings(), "vault 70, world 35, alice 35");
    story
}

/// Replays the journal with one record changed by `change`; the result of the check of that record.
fn check_changed(key: Seq, change: impl FnOnce(&mut Record)) -> Result<(), String> {
    let story = finished_story();
    let mut replay = Replay::default();
    for (place, (at, record)) in (1..).map(Seq).zip(&story.journal) {
        let mut record = record.clone();
        if place == key {
            change(&mut record);
            return replay
                .check(place, *at, &record, |place| story.record(place))
                .map_err(|divergence| divergence.what);
        }
        assert_eq!(replay.check(place, *at, &record, |place| story.record(place)), Ok(()));
        replay.apply(place, &record);
    }
    panic!("no record {key}");
}

fn effects(record: &mut Record) -> &mut Effects {
    match record {
        Record::Decided { verdict: Verdict::Applied(effects), .. } => effects,
        other => panic!("not applied: {other:?}"),
    }
}

fn verdict(record: &mut Record) -> &mut Verdict {
    match record {
        Record::Decided { verdict, .. } => verdict,
        other => panic!("not decided: {other:?}"),
    }
}

#[track_caller]
fn assert_divergence(key: &str, change: impl FnOnce(&mut Record)) {
    let what = check_changed(finished_story().place(key), change).unwrap_err();
    assert!(what.starts_with("the request was decided differently: "), "{what}");
}

#[test]
fn the_journal_alone_gives_the_books() {
    let story = finished_story();
    let mut replay = Replay::default();
    for (place, (_, record)) in (1..).map(Seq).zip(&story.journal) {
        replay.apply(place, &Record::decode(&record.encode()).unwrap());
    }
    assert_eq!(everything(&replay.books), everything(&story.books));
    assert_eq!(replay.reversals, story.replay.reversals);
    assert_eq!(replay.assets.len(), 2);
    let (debit, credit) = replay.books.totals()[&AssetId(1)];
    assert_eq!((debit.amount(), credit.amount()), (Some(Amount::new(70)), Some(Amount::new(70))));
}

#[test]
fn an_untouched_journal_is_sound() {
    let last = finished_story().journal.len() as u64;
    assert_eq!(check_changed(Seq(last), |_| {}), Ok(()));
}

#[test]
fn a_changed_verdict_is_detected() {
    assert_divergence("k1", |record| *verdict(record) = Verdict::Rejected(Rejection::InsufficientFunds));
    assert_divergence("k3", |record| *verdict(record) = Verdict::Applied(Effects::default()));
    assert_divergence("k3", |record| *verdict(record) = Verdict::Rejected(Rejection::NotAllowed));
    assert_divergence("r2", |record| *verdict(record) = Verdict::Rejected(Rejection::NotReversible));
}

/// The result of the check for a request that is recorded as rejected after the story, and the writer's answer to it.
fn recorded(line: &str, rejection: Rejection) -> (Result<(), String>, String) {
    let mut story = finished_story();
    story.run(
        "open hot @house/custody/1/hot
         deposit d9 5 -> bob
         k9 game_server: move bob -> world 5  applied",
    );
    let (request, verdict) = (story.read(line), Verdict::Rejected(rejection));
    let record = Record::Decided { request: request.clone(), verdict };
    let sound = story.replay.clone().check(story.next_seq(), story.now, &record, |place| story.record(place));
    (sound.map_err(|divergence| divergence.what.split(':').next().unwrap().to_owned()), story.ask(request))
}

/// Even if the verdict is right: such a request leaves its key free, so there can be no record of it.
#[test]
fn a_rejection_that_must_not_be_recorded_is_detected_in_the_journal() {
    let lines = [
        ("x1 game_server: move alice -> world 0", Rejection::AmountZero),
        ("x1@hot game_server: move alice -> world 1", Rejection::KeyNotAllowed),
        ("x1 admin(ann): move alice -> bob 1", Rejection::NotConfirmed),
        ("x1 game_server: move alice -> world 1, need servers/arena spawns=open", Rejection::ServerPaused),
        ("x1 system: move alice -> hot 1", Rejection::CustodyShort),
        ("x1 indexer: reverse d9", Rejection::DebtAccountNotFound),
    ];
    for (line, rejection) in lines {
        let no_trace = Err("the journal records a request that must not be recorded".to_owned());
        assert_eq!(recorded(line, rejection), (no_trace, rejection.code().to_owned()), "{line}");
    }
    let (sound, _) = recorded("x1 game_server: move alice -> world 999", Rejection::InsufficientFunds);
    assert_eq!(sound, Ok(()));
}

/// Guards are checked after access, assets and expiry, and before the legs are carried out.
#[test]
fn a_guard_fails_only_where_there_is_one_and_nothing_came_before_it() {
    let failed = |line: &str| recorded(line, Rejection::GuardFailed).0;
    let otherwise = Err("the request was decided differently".to_owned());
    assert_eq!(failed("x1 game_server: move alice -> world 1, make spawns/s1 state=live"), Ok(()));
    assert_eq!(failed("x1 game_server: move alice -> world 999, make spawns/s1 state=live"), Ok(()));
    assert_eq!(failed("x1 system: move alice -> hot 1, make spawns/s1 state=live"), Ok(()));
    assert_eq!(failed("x1 indexer: reverse d3, turn deposits/x3 state=a into state=b"), Ok(()));
    assert_eq!(failed("x1 game_server: move alice -> world 1"), otherwise);
    assert_eq!(failed("x1 game_server: move alice -> world 999"), otherwise);
    assert_eq!(failed("x1 game_server: move alice -> world 1, need servers/arena spawns=open"), otherwise);
    assert_eq!(failed("x1 game_server: move alice -> #99 1, make spawns/s1 state=live"), otherwise);
    assert_eq!(failed("x1 game_server: move alice -> bob 1, make spawns/s1 state=live"), otherwise);
    assert_eq!(failed("x1 game_server: release h1, make spawns/s1 state=live"), otherwise);
    assert_eq!(failed("x1 indexer: reverse d1, make deposits/x4 state=a"), otherwise);
}

#[test]
fn a_table_refuses_only_the_facts_of_what_would_be_applied() {
    let refused = |line: &str| recorded(line, Rejection::FactRefused).0;
    let otherwise = Err("the request was decided differently".to_owned());
    assert_eq!(refused("x1 game_server: move alice -> world 1, make spawns/s1 state=live"), Ok(()));
    assert_eq!(refused("x1 indexer: reverse d3, turn deposits/x3 state=a into state=b"), Ok(()));
    assert_eq!(refused("x1 game_server: move alice -> world 1"), otherwise);
    assert_eq!(refused("x1 game_server: move alice -> world 999"), otherwise);
    assert_eq!(refused("x1 game_server: move alice -> world 999, make spawns/s1 state=live"), otherwise);
    assert_eq!(refused("x1 game_server: move alice -> bob 1, make spawns/s1 state=live"), otherwise);
}

#[test]
fn a_changed_posting_is_detected() {
    assert_divergence("k1", |record| effects(record).postings[0].amount = Amount::new(31));
    assert_divergence("k1", |record| effects(record).postings[0].from_after = Amount::new(71));
    assert_divergence("k1", |record| effects(record).postings[0].to_after = Amount::new(29));
    assert_divergence("k1", |record| effects(record).postings[0].to = AccountId(8));
    assert_divergence("k1", |record| effects(record).postings.clear());
    assert_divergence("d3", |record| effects(record).postings.swap(0, 1));
    assert_divergence("k1", |record| {
        let twice = effects(record).postings[0];
        effects(record).postings.push(twice);
    });
}

#[test]
fn a_changed_hold_is_detected() {
    assert_divergence("k2", |record| effects(record).holds[0].hold.remaining = Amount::new(19));
    assert_divergence("k2", |record| effects(record).holds[0].hold.expires = None);
    assert_divergence("k2", |record| effects(record).holds[0].hold.settler = Role::User);
    assert_divergence("k4", |record| effects(record).holds[0].held_after = Amount::new(14));
    assert_divergence("k4", |record| effects(record).holds.clear());
}

#[test]
fn a_changed_request_is_detected() {
    assert_divergence("k1", |record| {
        let Record::Decided { request, .. } = record else { unreachable!() };
        let Action::Legs(legs) = &mut request.action else { unreachable!() };
        legs.push(legs[0].clone());
    });
    assert_divergence("r1", |record| effects(record).reverses = None);
}

#[test]
fn a_hold_expires_at_its_time_as_it_stands_and_once() {
    let story = finished_story();
    let place = story.place("r2").next();
    let expiry = |change: fn(&mut HoldChange)| {
        check_changed(place, |record| match record {
            Record::HoldExpired(expiry) => change(expiry),
            other => panic!("no expiry: {other:?}"),
        })
    };
    let unsound = Err("the hold could not have expired like this".to_owned());
    assert_eq!(expiry(|_| {}), Ok(()));
    assert_eq!(expiry(|change| change.held_after = Amount::new(1)), unsound);
    assert_eq!(expiry(|change| change.hold.remaining = Amount::new(1)), unsound);
    assert_eq!(expiry(|change| change.hold.account = AccountId(8)), unsound);
    assert_eq!(expiry(|change| change.hold.id.0 += 1), unsound);

    let record = story.record(place).unwrap();
    let again = story.replay.clone().check(story.next_seq(), story.now, &record, |_| None);
    assert_eq!(again.unwrap_err().what, "the hold could not have expired like this");
}

#[test]
fn a_hold_does_not_expire_before_its_time() {
    let mut story = Story::new();
    story.run(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 20 until 500, hold alice 5  applied h1 h2",
    );
    let mut expiry = |hold: &str, at: u64| {
        let record = Record::HoldExpired(story.books.expire(story.hold(hold)).unwrap());
        story.replay.check(Seq(99), Time(at), &record, |_| None).is_ok()
    };
    assert!(!expiry("h1", 499));
    assert!(expiry("h1", 500));
    assert!(!expiry("h2", u64::MAX), "it has no time");
}

#[test]
fn an_account_is_opened_once_and_as_it_may_be() {
    let mut replay = finished_story().replay;
    let mut opened = |id, name: &str, policy, by: &Principal| {
        let record = Record::AccountOpened { id: AccountId(id), name: name.parse().unwrap(), policy, by: by.clone() };
        replay.check(Seq(99), Time(500), &record, |_| None).map_err(|divergence| divergence.what)
    };
    let (alice, carol, policy, by) =
        ("arena/debt/1/alice", "arena/debt/1/carol", AccountPolicy::of(AccountKind::Debt), Principal::Indexer);
    let before = Err("the account was opened before".to_owned());
    let not_so = Err("the account could not have been opened like this".to_owned());
    assert_eq!(opened(9, alice, policy, &by), before);
    assert_eq!(opened(99, alice, policy, &by), before);
    assert_eq!(opened(9, carol, policy, &by), before);
    let wide = AccountPolicy { deposit: Roles::those(|_| true), ..policy };
    assert_eq!(opened(99, carol, wide, &by), not_so);
    assert_eq!(opened(99, carol, policy, &Principal::Tables), not_so);
    assert_eq!(opened(99, "arena/debt/3/carol", policy, &by), not_so, "there is no asset 3");
    assert_eq!(opened(99, carol, policy, &by), Ok(()));
}

#[test]
fn an_asset_is_listed_once() {
    let mut story = finished_story();
    let Some(Record::AssetListed { asset, .. }) = story.record(Seq(1)) else { panic!("not an asset") };
    let mut listed = |id, asset| {
        let record = Record::AssetListed { id: AssetId(id), asset };
        story.replay.check(Seq(99), Time(500), &record, |_| None).map_err(|divergence| divergence.what)
    };
    let before = Err("the asset was listed before".to_owned());
    let renamed = Asset { symbol: "WETH".to_owned(), ..asset.clone() };
    let token = Asset { unit: Unit::Token("0xdac1".parse().unwrap()), ..asset.clone() };
    assert_eq!(listed(1, asset.clone()), before);
    assert_eq!(listed(3, renamed), before);
    assert_eq!(listed(2, token.clone()), before);
    assert_eq!(listed(3, token), Ok(()));
}

/// Whether a guard passed, or a table accepted a row, is not in the journal.
#[test]
fn a_failed_guard_is_accepted_unchecked() {
    let refused = |record: &mut Record| *verdict(record) = Verdict::Rejected(Rejection::FactRefused);
    assert_eq!(check_changed(finished_story().place("d1"), refused), Ok(()));
    assert_eq!(check_changed(finished_story().place("d2"), |_| {}), Ok(()));
}
