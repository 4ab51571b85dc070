//! Records: golden bytes, so that a change of the format fails here before a journal becomes unreadable.

use crate::{
    AccountId, AccountKind, AccountName, AccountPolicy, Action, Amount, Asset, AssetId, BlockRef, ColumnValue,
    Confirmation, Effects, Event, Fact, Guard, GuardFailure, Hold, HoldChange, HoldId, HoldState, IdempotencyKey, Leg,
    Name, Namespace, Posting, Principal, Record, RecordError, References, Rejection, Request, Role, RowKey, Scope, Seq,
    Settler, Time, Unit, Verdict,
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn asset_listed() -> Record {
    let (chain, unit) = (name("eip155:1"), Unit::Token(name("0xdac1")));
    Record::AssetListed { id: AssetId(2), asset: Asset { chain, unit, decimals: 6, symbol: "USDT".to_owned() } }
}

fn account_opened() -> Record {
    let name: AccountName = "arena/funds/1/alice".parse().unwrap();
    let by = Principal::GameServer("arena".parse().unwrap());
    Record::AccountOpened { id: AccountId(7), name, policy: AccountPolicy::of(AccountKind::Funds), by }
}

fn hold(state: HoldState, remaining: u128) -> Hold {
    let (id, account, expires) = (HoldId::of(Seq(9), 1), AccountId(7), Some(Time(500)));
    Hold { id, account, remaining: Amount::new(remaining), expires, settler: Role::System, state }
}

fn hold_expired() -> Record {
    Record::HoldExpired(HoldChange { hold: hold(HoldState::Expired, 0), held_after: Amount::new(3) })
}

/// A request that has one of everything.
fn request() -> Request {
    let (account, amount) = (AccountId(7), Amount::new(60));
    Request {
        key: IdempotencyKey {
            namespace: Namespace::Client,
            scope: Scope::Server(name("arena")),
            text: "k1".to_owned(),
        },
        principal: Principal::Admin(name("ann")),
        confirmation: Some(Confirmation { proposal: name("p1"), by: name("ben") }),
        action: Action::Legs(vec![
            Leg::Move { from: account, to: AccountId(300), amount: Amount::MAX },
            Leg::Hold { account, amount, expires: Some(Time(500)), settler: Settler::System },
            Leg::Post { hold: HoldId(145), to: AccountId(8), amount },
            Leg::Release { hold: HoldId(145) },
        ]),
        references: References {
            deposit: Some("d".to_owned()),
            intent: None,
            tx_hash: Some("0xf".to_owned()),
            hand: None,
            block: Some(BlockRef { number: 9, hash: "0xb".to_owned() }),
        },
        facts: vec![Fact {
            row: RowKey { table: "t".to_owned(), columns: vec![("id".to_owned(), ColumnValue::Int(-1))] },
            guard: Guard::Is(vec![
                ("a".to_owned(), ColumnValue::Null),
                ("b".to_owned(), ColumnValue::Bytes(vec![0xff])),
            ]),
            otherwise: GuardFailure::Paused,
            set: vec![
                ("c".to_owned(), ColumnValue::Amount(amount)),
                ("d".to_owned(), ColumnValue::Text("x".to_owned())),
            ],
        }],
        events: vec![Event { kind: name("e.k"), resource: "r".to_owned(), body: "{}".to_owned() }],
    }
}

fn applied() -> Record {
    let (from, to) = (AccountId(7), AccountId(300));
    let (from_after, to_after) = (Amount::ZERO, Amount::MAX);
    let effects = Effects {
        postings: vec![Posting { from, to, amount: Amount::MAX, from_after, to_after }],
        holds: vec![HoldChange { hold: hold(HoldState::Open, 60), held_after: Amount::new(60) }],
        reverses: Some(Seq(4)),
    };
    Record::Decided { request: request(), verdict: Verdict::Applied(effects) }
}

fn rejected() -> Record {
    let request = Request {
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Reverse(Seq(4)),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
        ..request()
    };
    Record::Decided { request, verdict: Verdict::Rejected(Rejection::InsufficientFunds) }
}

fn all() -> [Record; 5] {
    [asset_listed(), account_opened(), applied(), rejected(), hold_expired()]
}

/// Version, variant, then the fields in order: numbers as varints, texts with their length.
#[test]
fn the_bytes_of_small_records() {
    assert_eq!(hex(&asset_listed().encode()), "010002086569703135353a310106307864616331060455534454");
    assert_eq!(hex(&account_opened().encode()), "01010701056172656e6100010105616c6963656b5a6a03056172656e61");
    assert_eq!(
        hex(&rejected().encode()),
        "01020001056172656e61026b3100000104000000000000000112696e73756666696369656e745f66756e6473"
    );
    assert_eq!(hex(&hold_expired().encode()), "01039101070001f403060203");
}

#[test]
fn the_bytes_of_a_request_with_one_of_everything() {
    let parts = [
        "0102",                                           // version 1, a decided request
        "0001056172656e61026b31",                         // key: client, server arena, k1
        "0103616e6e",                                     // principal: admin ann
        "010270310362656e",                               // confirmed: p1 by ben
        "0004",                                           // four legs
        "0007ac02ffffffffffffffffffffffffffffffffffff03", // move 7 -> 300, 2^128 - 1
        "01073c01f40301",                                 // hold in 7, 60 until 500, by system
        "029101083c",                                     // post 145 -> 8, 60
        "039101",                                         // release 145
        "01016400010330786600010903307862",               // references: deposit, transaction, block
        "010174010269640101",                             // one fact: table t, id = -1
        "010201610001620301ff",                           // a is null and b is 0xff
        "01",                                             // else the server is paused
        "020163043c0164020178",                           // set c = 60, d = x
        "0103652e6b0172027b7d",                           // one event
        "00",                                             // applied
        "0107ac02ffffffffffffffffffffffffffffffffffff0300ffffffffffffffffffffffffffffffffffff03", // one posting
        "019101073c01f40306003c",                         // one hold, to be settled by the system
        "0104",                                           // reverses 4
    ];
    assert_eq!(hex(&applied().encode()), parts.concat());
}

/// SHA-256 over `bankroll request body 1\0` and the bytes above from the principal to the events.
#[test]
fn the_hash_of_a_body_never_changes() {
    assert_eq!(hex(&request().body_hash()), "fe5efef3e0e3b3e7681ce980ec03e471a57535f2a7dca353a65f5e36bbc00735");
}

#[test]
fn everything_but_the_key_is_in_the_hash_of_the_body() {
    let request = request();
    let other_key = IdempotencyKey { text: "k2".to_owned(), ..request.key.clone() };
    assert_eq!(Request { key: other_key, ..request.clone() }.body_hash(), request.body_hash());
    let others = [
        Request { principal: Principal::Admin(name("eve")), ..request.clone() },
        Request { confirmation: None, ..request.clone() },
        Request { action: Action::Reverse(Seq(4)), ..request.clone() },
        Request { references: References::default(), ..request.clone() },
        Request { facts: Vec::new(), ..request.clone() },
        Request { events: Vec::new(), ..request.clone() },
    ];
    assert!(others.iter().all(|other| other.body_hash() != request.body_hash()));
}

#[test]
fn records_are_read_as_they_were_written() {
    for record in all() {
        assert_eq!(Record::decode(&record.encode()), Ok(record));
    }
}

#[test]
fn a_decided_record_is_the_request_that_was_encoded_before_and_the_verdict() {
    for record in all() {
        let Record::Decided { request, verdict } = &record else { continue };
        let mut bytes = b"what the buffer had".to_vec();
        Record::append_decided(&mut bytes, &request.encode(), verdict);
        assert_eq!(bytes, [b"what the buffer had", &record.encode()[..]].concat());
    }
}

#[test]
fn a_record_cut_anywhere_is_no_record() {
    for record in all() {
        let bytes = record.encode();
        for length in 0..bytes.len() {
            let version = (length > 0).then_some(1);
            assert_eq!(Record::decode(&bytes[..length]), Err(RecordError { version }), "{length} of {}", bytes.len());
        }
    }
}

#[test]
fn a_record_with_something_behind_it_is_no_record() {
    for record in all() {
        for tail in [&[0][..], &[0xff], &record.encode()] {
            assert_eq!(Record::decode(&[&record.encode(), tail].concat()), Err(RecordError { version: Some(1) }));
        }
    }
}

#[test]
fn other_versions_and_variants_are_refused() {
    for record in all() {
        let bytes = record.encode();
        for version in (0..=u8::MAX).filter(|version| *version != 1) {
            let other = [&[version], &bytes[1..]].concat();
            assert_eq!(Record::decode(&other), Err(RecordError { version: Some(version) }));
        }
    }
    let unknown = [&[1, 4], &hold_expired().encode()[2..]].concat();
    assert_eq!(Record::decode(&unknown), Err(RecordError { version: Some(1) }));
}

/// A journal written by a newer program is not read as something else by an older one.
#[test]
fn an_unknown_rejection_in_a_record_is_refused() {
    let bytes = rejected().encode();
    assert!(bytes.ends_with(b"\x12insufficient_funds"));
    let verdict = bytes.len() - 19;
    for unknown in [&b"\x12insufficient_fundz"[..], b"\x07no_luck", b"\x00", b"\x15"] {
        let damaged = [&bytes[..verdict], unknown].concat();
        assert_eq!(Record::decode(&damaged), Err(RecordError { version: Some(1) }));
    }
}

/// Names are checked when they are read: a damaged journal cannot make a server that calls itself the house.
#[test]
fn illegal_names_in_a_record_are_refused() {
    let bytes = account_opened().encode();
    let place = bytes.windows(5).position(|window| window == b"arena").unwrap();
    for illegal in [b"Arena", b"are/a", b"@hous", b"are\xffa"] {
        let mut damaged = bytes.clone();
        damaged[place..place + 5].copy_from_slice(illegal);
        assert_eq!(Record::decode(&damaged), Err(RecordError { version: Some(1) }));
    }
}
