//! The public log of heads, and receipts under them.

use bankroll_heads::{HeadForm, HeadSigner, SignedHead, publish as publishing};
use bankroll_ledger::{Time, merkle::proofs::is_consistent};
use bankroll_orders::typed_data::WalletSignature;
use bankroll_store::Rows;
use serde_json::{Value, json};

use crate::world::{AUDIENCE, Ask, CHAIN, World, address, funds_of, key};

/// Publishes what is new, and returns the newest head.
pub fn publish(world: &World) -> SignedHead {
    let rows = Rows::open(&world.ledger).unwrap();
    let sign = |digest: &[u8; 32]| WalletSignature::by(&key("deployment"), digest);
    let (address, batches_max) = (address("deployment"), publishing::BATCHES_MAX);
    let signer = HeadSigner { audience: AUDIENCE, chain: CHAIN, address, batches_max, sign: &sign };
    publishing::step(&signer, &rows, Time(world.seconds() * 1_000_000)).unwrap();
    bankroll_heads::views::latest(rows.reader()).unwrap().unwrap()
}

fn signed(body: &Value) -> SignedHead {
    let form: HeadForm = serde_json::from_value(body.clone()).unwrap();
    SignedHead::try_from(&form).unwrap()
}

fn public(world: &World, path: &str) -> crate::world::Reply {
    world.ask(Ask::new("GET", path))
}

#[test]
fn anyone_reads_the_log_and_connects_any_two_heads() {
    let world = World::new();
    assert_eq!(public(&world, "/v1/heads").expect(200), json!({ "heads": [] }));
    assert_eq!(public(&world, "/v1/heads/latest").status, 404);
    let first = publish(&world);
    world.give(&funds_of("arena", "alice"), 5);
    let second = publish(&world);
    let latest = signed(&public(&world, "/v1/heads/latest").expect(200));
    assert_eq!((latest.clone(), latest.verify(Some(address("deployment")))), (second.clone(), Ok(())));
    assert_eq!(signed(&public(&world, &format!("/v1/heads/{}", first.batch)).expect(200)), first);
    let page = public(&world, "/v1/heads?limit=1").expect(200);
    assert_eq!((signed(&page["heads"][0]), &page["next"]), (second.clone(), &json!(second.batch.to_string())));
    let page = public(&world, &format!("/v1/heads?after={}", second.batch)).expect(200);
    assert_eq!((signed(&page["heads"][0]), page.get("next")), (first.clone(), None));

    let path = format!("/v1/heads/consistency?from={}&to={}", first.batch, second.batch);
    let proof = public(&world, &path).expect(200);
    assert_eq!((signed(&proof["from"]), signed(&proof["to"])), (first.clone(), second.clone()));
    let hashes = proof["proof"].as_array().unwrap().iter();
    let hashes: Vec<_> = hashes.map(|hash| bankroll_heads::hash_from_text(hash.as_str().unwrap()).unwrap()).collect();
    assert!(is_consistent(first.batch, &first.root, second.batch, &second.root, &hashes));

    for (path, status) in [
        (format!("/v1/heads/consistency?from={}&to={}", second.batch, first.batch), 400),
        (format!("/v1/heads/consistency?from=1&to={}", second.batch), 404),
        ("/v1/heads/consistency?from=1".into(), 400),
        ("/v1/heads/consistency?from=-1&to=2".into(), 400),
        ("/v1/heads/consistency?from=1&to=2&more=3".into(), 400),
        ("/v1/heads/0".into(), 404),
        ("/v1/heads/007".into(), 404),
        ("/v1/heads/99999999999999999999".into(), 404),
        ("/v1/heads?after=x".into(), 400),
    ] {
        assert_eq!(public(&world, &path).status, status, "{path}");
    }
}

#[test]
fn a_receipt_is_for_those_whose_accounts_the_record_touches() {
    let world = World::new();
    let transfer = json!({ "from": funds_of("arena", "alice"), "to": "arena/world/1", "amount": "7" });
    let record = world.post("arena", "/v1/servers/arena/transfer", transfer).expect(200)["record"].clone();
    let path = format!("/v1/receipts/{}", record.as_str().unwrap());
    let early = world.get("arena", &path);
    assert_eq!((early.status, early.code(), &early.body["retriable"]), (409, "head_not_published", &json!(true)));
    assert_eq!(world.get("rival", &path).status, 404, "also while there is no head");
    let head = publish(&world);
    for (of, status) in [("arena", 200), ("alice", 200), ("olga", 200), ("rival", 404), ("bob", 404), ("dev", 404)] {
        assert_eq!(world.get(of, &path).status, status, "{of}");
    }
    let receipt = world.get("alice", &path).expect(200);
    assert_eq!((&receipt["format"], signed(&receipt["published"])), (&json!("bankroll receipt 3"), head.clone()));
    assert_eq!(receipt["accounts"].as_array().unwrap().len(), 2);

    world.give(&funds_of("arena", "alice"), 5);
    let later = publish(&world);
    assert_eq!(signed(&world.get("alice", &path).expect(200)["published"]), later);
    let under = world.get("alice", &format!("{path}?under={}", head.batch)).expect(200);
    assert_eq!(signed(&under["published"]), head, "the head that a reader has kept");
    assert_eq!(world.get("alice", &format!("{path}?under=1")).status, 404);
    assert_eq!(world.get("alice", &format!("{path}?below=1")).status, 400);
}

#[test]
fn the_records_of_others_and_of_the_house_stay_hidden() {
    let world = World::new();
    publish(&world);
    let last = world.ledger_head();
    let rows: Vec<(u64, [u16; 3])> = (1..=last).map(|seq| (seq, statuses(&world, seq))).collect();
    for (seq, [arena, rival, owner]) in &rows {
        assert_eq!(*owner, 200, "record {seq}");
        assert!(*arena == 404 || *rival == 404, "record {seq} is of one server at most");
    }
    let count = |place: usize| rows.iter().filter(|(_, statuses)| statuses[place] == 200).count();
    assert!(count(0) > 0 && count(1) > 0);

    // A request of the arena that names the rival's account and is refused: it is not the rival's to read.
    let theirs = funds_of("rival", "bob");
    let request = json!({ "from": funds_of("arena", "alice"), "to": theirs, "amount": "1" });
    let refused = world.post("arena", "/v1/servers/arena/transfer", request);
    assert_ne!(refused.status, 200);
    publish(&world);
    for seq in last + 1..=world.ledger_head() {
        assert_eq!(statuses(&world, seq)[1], 404, "record {seq}");
        assert_eq!(world.get("bob", &format!("/v1/receipts/rec_{seq}")).status, 404, "record {seq}");
    }
}

fn statuses(world: &World, seq: u64) -> [u16; 3] {
    ["arena", "rival", "olga"].map(|of| world.get(of, &format!("/v1/receipts/rec_{seq}")).status)
}
