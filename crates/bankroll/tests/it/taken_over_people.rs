//! Every certificate and every database login, and no key of a person: no operator, no confirmation and no proposal can
//! be made up, carried out twice, or carried out with another content. Against a node that holds the books.

use bankroll_ledger::{
    Action, Amount, Confirmation, IdempotencyKey, Leg, Name, Namespace, Principal, References, Request, Scope, Time,
};
use bankroll_nodes::{RelayedRequest, RelayedResponse};
use bankroll_operators::{
    Act, ActHash, AuthorName, LogEntry, OperatorRole, Proof, ProposalContent, ProposalId, SignedRequest,
};
use bankroll_orders::typed_data::{self, B256, OpenSession};
use bankroll_registry::{Caller, ChangeOrigin, LoggedAct, RegistryChange, SessionKeys, change_request, frozen_owner};
use bankroll_roles::AuthKey;
use bankroll_store::{Ledger, LedgerOptions, Reader};
use bankroll_testkit::postgres::{Session, pairs};
use serde_json::{Value, json};

use crate::{
    house::{self, ALICE, ALICES_FUNDS, House, relay},
    people::{AUDIENCE, CHAIN, now, signed},
    running::Running,
};

const NODES: [(&str, &str); 4] =
    [("books-1", "books"), ("api-1", "api"), ("indexer-1", "indexer"), ("payouts-1", "payouts")];
/// What a person changes: of each kind one.
const CHANGES: [(&str, &str, &str); 7] = [
    ("POST", "/v1/registry/chains", r#"{"name":"eip155:5","label":"Five"}"#),
    ("POST", "/v1/proposals", r#"{"content":{"kind":"set_quorum","quorum":1}}"#),
    ("POST", "/v1/proposals/prp_00000000000000000000000000000000/reject", "{}"),
    ("POST", "/v1/operators/owner/suspend", "{}"),
    ("POST", "/v1/program-keys", r#"{"label":"spy","rights":["read_money"]}"#),
    ("POST", "/v1/players/0xab/freeze", r#"{"reason":"no"}"#),
    ("DELETE", "/v1/operators/keys/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e", "{}"),
];

/// The first owner, whose key is not on any node, and a stranger with a key of their own.
struct People {
    house: House,
    owner: AuthKey,
    mallory: AuthKey,
}

fn people() -> People {
    let house = House::new(&NODES, 1_000);
    let owner = AuthKey::read(&house.path().join("owner.key")).unwrap();
    let mallory = AuthKey::create(&house.path().join("mallory.key")).unwrap();
    People { house, owner, mallory }
}

fn relayed(request: &SignedRequest) -> RelayedRequest {
    let headers = [
        ("x-bankroll-signature", request.signature.clone()),
        ("x-bankroll-address", request.address.lower_hex()),
        ("x-bankroll-expires", request.expires.to_string()),
        ("idempotency-key", request.idempotency_key.clone()),
        ("content-type", "application/json".into()),
    ];
    RelayedRequest {
        method: request.method.clone(),
        path: request.path.clone(),
        headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        body: request.body.clone().into_bytes(),
    }
}

fn status_and_code(response: &RelayedResponse) -> (u16, String) {
    (response.status, house::json(response)["code"].as_str().unwrap_or_default().to_owned())
}

impl People {
    fn start(&self) -> Running {
        let books = self.house.start("books-1", "books");
        books.until("took");
        books
    }

    fn send(&self, request: RelayedRequest) -> RelayedResponse {
        relay(&self.house.forwarder("api-1", "api"), request).unwrap()
    }

    fn entries(&self) -> usize {
        pairs(&self.house.url, "SELECT number, entry FROM audit_log").len()
    }

    /// Olga's signed wish to have Mallory as an owner, which she never made.
    fn forged_entry(&self, number: u64) -> LogEntry {
        let body = json!({ "content": {
            "kind": "add_person", "person": "mallory", "roles": ["owner"], "address": self.mallory.address(),
        } });
        let request =
            signed(&self.mallory, self.owner.address(), ("POST", "/v1/proposals", &body.to_string()), "forged");
        let owner: Name = "owner".parse().unwrap();
        let at = now();
        let content = ProposalContent::AddPerson {
            person: "mallory".parse().unwrap(),
            roles: [OperatorRole::Owner].into(),
            address: self.mallory.address(),
        };
        let act = Act::Propose {
            proposal: ProposalId::of(&owner, "forged"),
            content,
            expires: Time(at.0 + bankroll_operators::PROPOSAL_LIFETIME),
        };
        LogEntry { number, at, author: AuthorName::Person(owner), act, proof: Proof::Signed(Box::new(request)) }
    }

    /// The log's newest number and hash.
    fn newest(&self) -> (u64, ActHash) {
        let rows = pairs(&self.house.url, "SELECT number, encode(hash, 'hex') FROM audit_log ORDER BY number DESC");
        let (number, hash) = rows.first().unwrap();
        let mut bytes = [0; 32];
        hex::decode_to_slice(hash, &mut bytes).unwrap();
        (number.parse().unwrap(), ActHash(bytes))
    }

    /// A node refuses these books, and says why; so does the audit.
    fn refuses(&self, why: &str) {
        let books = self.house.start("books-1", "books");
        let said = books.until("no_api");
        assert!(said["message"].as_str().unwrap_or_default().contains(why), "{said}");
        drop(books);
        let audited = self.house.run("", "audit");
        assert_eq!(audited.code, 4, "{}{}", audited.stdout, audited.stderr);
        let text = format!("{}{}", audited.stdout, audited.stderr);
        assert!(text.contains(why), "{why} is not in: {text}");
    }
}

/// A session that the owner has opened, as a front that relays the answer sees it.
fn opened_session(people: &People) -> String {
    let (nonce, expires) = ([7; 32], now().0 / 1_000_000 + 240);
    let message = OpenSession {
        role: "operator".into(),
        subject: "owner".into(),
        audience: AUDIENCE.into(),
        nonce: B256::from(nonce),
        expires,
    };
    let signature = people.owner.sign(&typed_data::digest(&message, CHAIN)).unwrap();
    let body = json!({
        "role": "operator", "subject": "owner", "audience": AUDIENCE, "chain_id": CHAIN.0,
        "nonce": format!("0x{}", hex::encode(nonce)), "expires": expires, "signature": signature.to_string(),
    });
    let opened = people.send(house::request("POST", "/v1/sessions", None, None, Some(&body)));
    assert_eq!(opened.status, 200, "{}", house::json(&opened));
    house::json(&opened)["token"].as_str().unwrap().to_owned()
}

/// The login of `books` reads the secrets of sessions; but a session of a person is an entry of the log. A true token,
/// which every front sees, reads, and changes nothing.
#[test]
fn no_token_changes_anything_and_one_made_with_the_secrets_of_the_database_reads_nothing() {
    let people = people();
    let _books = people.start();
    let reader = Reader::open(people.house.login("books")).unwrap();
    let keys = SessionKeys::load(&reader, AUDIENCE).unwrap();
    let caller = Caller::Operator("owner".parse().unwrap());
    let (forged, _) = keys.issue(caller, people.owner.address(), [7; 16], now(), 600_000_000).unwrap();
    let (forged, seen) = (forged.reveal(), opened_session(&people));
    let read = |token: &str| people.send(house::request("GET", "/v1/servers", Some(token), None, None)).status;
    assert_eq!((read(forged), read(&seen)), (401, 200));
    let before = people.entries();
    for (method, path, body) in CHANGES {
        let body: Value = serde_json::from_str(body).unwrap();
        let change = |token: &str| {
            let request = house::request(method, path, Some(token), Some("forged"), Some(&body));
            status_and_code(&people.send(request))
        };
        assert_eq!(change(forged).0, 401, "{method} {path}");
        assert_eq!(change(&seen), (403, "signature_needed".into()), "{method} {path}");
    }
    assert_eq!(people.entries(), before);
}

#[test]
fn no_request_of_a_stranger_is_a_persons_and_a_true_one_is_good_for_itself_alone() {
    let people = people();
    let _books = people.start();
    for change in CHANGES {
        let own = signed(&people.mallory, people.mallory.address(), change, "forged");
        assert_eq!(status_and_code(&people.send(relayed(&own))), (401, "unauthenticated".into()), "{change:?}");
        let as_owner = signed(&people.mallory, people.owner.address(), change, "forged");
        assert_eq!(status_and_code(&people.send(relayed(&as_owner))), (401, "signature_invalid".into()), "{change:?}");
    }
    // A front sees a true request. It can send it again, and that is all.
    let add = ("POST", "/v1/registry/chains", r#"{"name":"eip155:31337","label":"Anvil"}"#);
    let seen = signed(&people.owner, people.owner.address(), add, "seen");
    assert_eq!(people.send(relayed(&seen)).status, 200);
    let entries = people.entries();
    let again = people.send(relayed(&seen));
    assert!(again.headers.iter().any(|(name, _)| name == "idempotent-replayed"), "{again:?}");
    let other = |change: &dyn Fn(&mut SignedRequest)| {
        let mut request = seen.clone();
        change(&mut request);
        status_and_code(&people.send(relayed(&request)))
    };
    let invalid = (401, "signature_invalid".to_owned());
    assert_eq!(other(&|request| request.body = request.body.replace("Anvil", "Mine")), invalid);
    assert_eq!(other(&|request| request.idempotency_key = "other".into()), invalid);
    assert_eq!(other(&|request| request.path = "/v1/registry/treasury".into()), invalid);
    assert_eq!(other(&|request| request.expires += 1), invalid);
    assert_eq!(people.entries(), entries);
}

/// The payouts role asks the registry whether a player is frozen, with its own login.
#[test]
fn the_login_of_payouts_reads_who_is_frozen_and_nothing_else_of_people() {
    let people = people();
    let books = people.start();
    let alice: Name = ALICE.parse().unwrap();
    let payouts = || Reader::open(people.house.login("payouts")).unwrap();
    assert_eq!(frozen_owner(&payouts(), &alice).unwrap(), None);
    let freeze = ("POST", &*format!("/v1/players/{ALICE}/freeze"), r#"{"reason":"two accounts"}"#);
    let freeze = signed(&people.owner, people.owner.address(), freeze, "freeze");
    assert_eq!(people.send(relayed(&freeze)).status, 200);
    assert_eq!(frozen_owner(&payouts(), &alice).unwrap().as_deref(), Some("two accounts"));
    assert!(payouts().rows("SELECT * FROM audit_log", vec![]).is_err());
    drop(books);
}

/// Rows that are written with every login. What was there is only changed by the owner of the tables.
#[test]
fn a_row_of_a_made_up_person_makes_no_person_and_is_named() {
    let people = people();
    let books = people.start();
    let (number, hash) = people.newest();
    let entry = people.forged_entry(number + 1);
    let hash = hex::encode(hash.after(&entry.text()).0);
    let text = entry.text().replace('\'', "''");
    let insert = format!(
        "INSERT INTO audit_log (number, at, author, entry, hash)
         VALUES ({}, {}, 'person:owner', '{text}', decode('{hash}', 'hex'))",
        entry.number, entry.at.0
    );
    for role in ["api", "indexer", "payouts"] {
        let login = Session::open(people.house.login(role).reveal());
        for sql in [&insert, "UPDATE audit_log SET author = 'person:mallory'", "DELETE FROM audit_log"] {
            assert!(login.try_run(sql).is_err(), "{role}: {sql}");
        }
    }
    let login = Session::open(people.house.login("books").reveal());
    for sql in ["UPDATE audit_log SET author = 'person:mallory'", "DELETE FROM audit_log", "TRUNCATE audit_log"] {
        assert!(login.try_run(sql).is_err(), "books: {sql}");
    }
    login.run(&insert);
    let own = signed(&people.mallory, people.mallory.address(), CHANGES[0], "own");
    assert_eq!(status_and_code(&people.send(relayed(&own))), (401, "unauthenticated".into()));
    books.signal("-TERM");
    assert_eq!(books.ended().0, 0);
    people.refuses(&format!("entry {} of the audit log could not have been entered", number + 1));
    // The owner of the tables takes it out again, and nothing has happened.
    Session::open(people.house.url.reveal()).run(&format!("DELETE FROM audit_log WHERE number = {}", number + 1));
    drop(people.start());
    people.house.run("", "audit").ok();
}

/// A process of the attacker's own that holds the books with their login, and writes the journal as a node would.
#[test]
fn a_process_with_the_login_of_books_writes_no_person_and_no_override_that_counts() {
    let people = people();
    let open = || {
        let migrations = bankroll_roles::flows::migrations();
        Ledger::open(LedgerOptions { migrations, ..LedgerOptions::new(people.house.login("books")) }).unwrap()
    };
    let ledger = open();
    let second = Confirmation { proposal: "prp_00000000000000000000000000000000".parse().unwrap(), by: name("ann") };
    let names = [ALICES_FUNDS, "arena/developer/1"].map(|name| name.parse().unwrap()).to_vec();
    let opened = ledger.open_accounts(&Principal::System, names).unwrap();
    let leg = Leg::Move { from: opened[0].unwrap(), to: opened[1].unwrap(), amount: Amount::new(7) };
    let key = |namespace, text: &str| IdempotencyKey { namespace, scope: Scope::House, text: text.into() };
    let request = Request {
        key: key(Namespace::Client, "admin/owner/proposal/made-up"),
        principal: Principal::Admin(name("owner")),
        confirmation: Some(second),
        action: Action::Legs(vec![leg]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    let applied = ledger.apply(request).unwrap();
    ledger.close();
    let audited = people.house.run("", "audit");
    assert_eq!(audited.code, 4, "{}", audited.stdout);
    let why = format!("record {} overrides the rules, and is no proposal", applied.seq.unwrap());
    assert!(audited.stderr.contains(&why), "{why} is not in: {}", audited.stderr);

    let ledger = open();
    let (number, hash) = people.newest();
    let entry = people.forged_entry(number + 1);
    let hash = hash.after(&entry.text());
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: key(Namespace::Registry, "forged"),
        by: name("operator:owner"),
        request_hash: [0; 32],
        now: now(),
    };
    let act = RegistryChange::Act(Box::new(LoggedAct { entry, hash }));
    ledger.apply(change_request(&origin, &[act]).unwrap()).unwrap().effects().unwrap();
    ledger.close();
    people.refuses(&format!("entry {} of the audit log could not have been entered", number + 1));
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}
