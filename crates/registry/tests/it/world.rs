//! A small world: books with the registry's tables, an owner, one chain with one coin, keys of people and servers.

use bankroll_ledger::{
    Action, Amount, AssetId, Fact, IdempotencyKey, Name, Namespace, Principal, References, Request, Scope, Time,
    Verdict,
};
use bankroll_operators::{AuthorName, OperatorRefusal, Proof, Right, SignedRequest};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, ApiRequest, B256, Registration, U256, WalletSignature},
};
use bankroll_registry::{
    ActDecision, ActRefusal, AssetDraft, ChainDraft, ChangeOrigin, CustodyKeyDraft, KeyBounds, ProvenWallet, REGISTRY,
    RegistrationContext, RegistrationDecision, RegistrationRefusal, RegistrationTerms, Registry, RegistryChange,
    RegistryDecision, RegistryError, ServerKeyDraft, SessionKeys, SignInConfig, SignInMessage, SignInOrigin,
    SignInRefusal, SignatureCheck, change_request, decide_link, decide_registration, issue_nonce, link_request_id,
};
use bankroll_store::{Answer, Audit, Clock, Ledger, LedgerOptions, Reader, StoreError};
use bankroll_testkit::postgres;
use k256::ecdsa::SigningKey;
use sha3::{Digest, Keccak256};
use tempfile::TempDir;

pub const AUDIENCE: &str = "bankroll.example";
pub const DOMAIN: &str = "play.example";
/// 2026-11-16T12:00:00Z.
pub const NOON: u64 = 1_794_830_400;
pub const CHAIN: ChainId = ChainId(31_337);
/// The account m/44'/60'/0' of the seed `test test test test test test test test test test test junk`.
pub const XPUB: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";

/// What people sign with.
pub const SERVER: u8 = 1;
pub const NEXT_SERVER: u8 = 2;
pub const ALICE: u8 = 3;
pub const BOB: u8 = 4;
pub const STRANGER: u8 = 5;
pub const OWNER: u8 = 6;

pub struct World {
    _folder: TempDir,
    pub ledger: Ledger,
    pub registry: Registry,
    pub keys: SessionKeys,
    pub now: Time,
    changes: u32,
    nonces: u8,
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn key(person: u8) -> SigningKey {
    SigningKey::from_slice(&[person; 32]).unwrap()
}

pub fn address(person: u8) -> Address {
    Address::of(key(person).verifying_key())
}

pub fn chain() -> Name {
    name("eip155:31337")
}

pub const BOUNDS: KeyBounds = KeyBounds {
    buy_in_min: Amount::new(100),
    buy_in_max: Amount::new(10_000),
    developer_bps_max: 500,
    world_bps_max: 1_000,
};

impl World {
    /// Books with an owner, a chain and its coin; nothing else.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        let now = Time(NOON * 1_000_000);
        let (clock, _) = Clock::manual(now);
        let options = LedgerOptions { clock, migrations: vec![REGISTRY], ..LedgerOptions::new(location) };
        let ledger = Ledger::open_or_create(options).unwrap();
        let no_secrets = SessionKeys::new(AUDIENCE, vec![]);
        let secret = no_secrets.next_secret([9; 32], now);
        ledger.write_rows(vec![secret.insert()]).unwrap().wait().unwrap().unwrap();
        let reader = Reader::open(ledger.location()).unwrap();
        let keys = SessionKeys::load(&reader, AUDIENCE).unwrap();
        let mut world =
            Self { _folder: folder, ledger, registry: Registry::default(), keys, now, changes: 0, nonces: 0 };
        let first = world.registry.add_first_owner(name("olga"), address(OWNER), now).unwrap();
        world.commit(&first);
        let draft = ChainDraft { name: chain(), label: "Test".into() };
        world.make(|registry, now| registry.add_chain(&draft, now));
        let draft = AssetDraft { chain: chain(), token: None, decimals: 18, symbol: "SIM".into() };
        let asset = world.ledger.list_asset(draft.listed()).unwrap();
        assert_eq!(asset, AssetId(1));
        world.make(|registry, now| registry.add_asset(&draft, asset, now));
        world
    }

    /// With a custody key, and an allow-listed key for the server `arena`.
    pub fn with_server_key() -> Self {
        let mut world = Self::new();
        world.add_custody_key("arena");
        world.allow(SERVER).unwrap();
        world
    }

    /// With the server `arena`, which has registered.
    pub fn with_server() -> Self {
        let mut world = Self::with_server_key();
        let terms = world.terms();
        world.register(SERVER, &terms).unwrap();
        world
    }

    pub fn add_custody_key(&mut self, id: &str) {
        let draft = CustodyKeyDraft { id: name(id), xpub: Some(XPUB.parse().unwrap()), address: None };
        self.make(|registry, now| registry.add_custody_key(&draft, now));
    }

    pub fn key_draft(person: u8) -> ServerKeyDraft {
        ServerKeyDraft {
            address: address(person),
            server: name("arena"),
            chain: chain(),
            asset: AssetId(1),
            custody_key: name("arena"),
            bounds: BOUNDS,
            spend_limit: None,
            valid_until: None,
        }
    }

    pub fn allow(&mut self, person: u8) -> Result<(), bankroll_registry::RegistryRefusal> {
        let changes = self.registry.add_server_key(&Self::key_draft(person), self.now)?;
        self.commit(&changes);
        Ok(())
    }

    /// The owner makes a decision that is accepted.
    pub fn make(&mut self, decision: impl FnOnce(&Registry, Time) -> RegistryDecision) {
        let changes = decision(&self.registry, self.now).unwrap();
        self.commit(&changes);
    }

    /// A request that this person has signed for a deployment.
    pub fn signed_for(
        audience: &str,
        person: u8,
        method: &str,
        path: &str,
        idempotency_key: &str,
        expires: u64,
    ) -> SignedRequest {
        Self::signed(audience, person, (method, path, ""), idempotency_key, expires)
    }

    fn signed(
        audience: &str,
        person: u8,
        (method, path, body): (&str, &str, &str),
        idempotency_key: &str,
        expires: u64,
    ) -> SignedRequest {
        let message = ApiRequest {
            method: method.into(),
            path: path.into(),
            audience: audience.into(),
            idempotencyKey: idempotency_key.into(),
            bodyHash: B256::from_slice(&Keccak256::digest(body)),
            expires,
        };
        let signature = WalletSignature::by(&key(person), &typed_data::digest(&message, CHAIN)).unwrap();
        SignedRequest {
            method: method.into(),
            path: path.into(),
            audience: audience.into(),
            chain_id: CHAIN.0,
            idempotency_key: idempotency_key.into(),
            body: body.into(),
            expires,
            address: address(person),
            signature: signature.to_string(),
        }
    }

    /// A person sends a signed request; what the books decide and write.
    pub fn act(&mut self, person: u8, method: &str, path: &str, body: &str) -> Result<ActDecision, ActRefusal> {
        self.changes += 1;
        let (expires, key) = (self.now.0 / 1_000_000 + 240, format!("k{}", self.changes));
        let request = Self::signed(AUDIENCE, person, (method, path, body), &key, expires);
        let author = self.registry.operators().person_with(address(person)).map(|found| found.name.clone());
        let author = author.ok_or(OperatorRefusal::UnknownKey)?;
        let act = request.act(&author, self.now, Some(Right::PauseServers), None)?;
        let proof = Proof::Signed(Box::new(request));
        let decided = self.registry.decide_act(AuthorName::Person(author), act, proof, self.now)?;
        self.commit(&decided.changes);
        Ok(decided)
    }

    pub fn seconds_later(&mut self, seconds: u64) {
        self.now = Time(self.now.0 + seconds * 1_000_000);
    }

    fn origin(&mut self) -> ChangeOrigin {
        self.changes += 1;
        let text = format!("admin/olga/key/{}", self.changes);
        ChangeOrigin {
            principal: Principal::Admin(name("olga")),
            key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text },
            by: name("operator:olga"),
            request_hash: [7; 32],
            now: self.now,
        }
    }

    /// Writes changes without changing memory.
    pub fn write(&mut self, changes: &[RegistryChange]) -> Answer {
        let request = change_request(&self.origin(), changes).unwrap();
        self.ledger.apply(request).unwrap()
    }

    /// Writes changes, then memory; both must agree.
    pub fn commit(&mut self, changes: &[RegistryChange]) {
        if changes.is_empty() {
            return;
        }
        let answer = self.write(changes);
        assert!(matches!(answer.verdict, Verdict::Applied(_)), "{answer:?}");
        self.registry.apply(changes);
        assert_eq!(self.registry, self.loaded());
    }

    pub fn reader(&self) -> Reader {
        Reader::open(self.ledger.location()).unwrap()
    }

    pub fn loaded(&self) -> Registry {
        Registry::load(&self.reader(), Time(0)).unwrap()
    }

    /// The audit of the journal, then of what people have signed in it.
    pub fn check_overrides(&self) -> Result<(), RegistryError> {
        let (report, _) = Audit::new(self.reader()).run(|_| {}).unwrap();
        let operators = bankroll_registry::audit_operators(&self.reader())?.unwrap();
        bankroll_registry::check_overrides(&self.reader(), &operators, &report.overrides, &|_, _, _| Ok(false))
    }

    pub fn audit(&self) -> Result<(), StoreError> {
        Audit::new(self.reader()).run(|_| {}).map(drop)
    }

    /// Terms within the bounds, with a new nonce.
    pub fn terms(&mut self) -> Registration {
        self.nonces += 1;
        Registration {
            server: "arena".into(),
            audience: AUDIENCE.into(),
            payoutAddress: XPUB.parse::<bankroll_orders::ExtendedPublicKey>().unwrap().address(0).unwrap().0.into(),
            developer: address(BOB).0.into(),
            buyIn: U256::from(1_000),
            developerFeeBps: 250,
            worldFeeBps: 100,
            massPerCoin: U256::from(1_000_000),
            exitHoldMs: 5_000,
            nonce: B256::repeat_byte(self.nonces),
            expires: self.now.0 / 1_000_000 + 300,
        }
    }

    /// What the books decide about a signed registration.
    pub fn decide(&self, person: u8, terms: &Registration) -> Result<RegistrationDecision, RegistrationRefusal> {
        let digest = typed_data::digest(terms, CHAIN);
        let signature = WalletSignature::by(&key(person), &digest).unwrap();
        let signer = typed_data::recover(&digest, &signature).unwrap();
        let (audience, now) = (AUDIENCE, self.now);
        let context = RegistrationContext { signer, chain_id: CHAIN, audience, start_block: 7, now };
        decide_registration(&self.registry, &RegistrationTerms::of(terms)?, &context)
    }

    pub fn register(&mut self, person: u8, terms: &Registration) -> Result<RegistrationDecision, RegistrationRefusal> {
        let decision = self.decide(person, terms)?;
        let opened = self.ledger.open_accounts(&Principal::System, decision.accounts.clone()).unwrap();
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        self.commit(&decision.changes);
        Ok(decision)
    }

    pub fn sign_in_config() -> SignInConfig {
        SignInConfig { origins: vec![SignInOrigin { domain: DOMAIN.into(), uri: format!("https://{DOMAIN}") }] }
    }

    pub fn nonce(&mut self) -> String {
        self.nonces += 1;
        issue_nonce(&self.keys, [self.nonces; 12], self.now).unwrap()
    }

    /// The text that a wallet shows and signs, issued at noon.
    pub fn message(wallet: Address, nonce: &str) -> String {
        format!(
            "{DOMAIN} wants you to sign in with your Ethereum account:\n{wallet}\n\nPlay.\n\nURI: https://{DOMAIN}\n\
             Version: 1\nChain ID: 31337\nNonce: {nonce}\nIssued At: 2026-11-16T12:00:00Z"
        )
    }

    pub fn sign(person: u8, text: &str) -> Vec<u8> {
        let prefix = format!("\u{19}Ethereum Signed Message:\n{}", text.len());
        let digest: [u8; 32] = Keccak256::new().chain_update(prefix).chain_update(text).finalize().into();
        WalletSignature::by(&key(person), &digest).unwrap().0.to_vec()
    }

    pub fn check(&self, text: &str, signature: &[u8]) -> Result<SignatureCheck, SignInRefusal> {
        SignInMessage::parse(text, &Self::sign_in_config(), &self.registry, &self.keys, self.now)?.prove(signature)
    }

    /// Whether a condition holds when the books commit a request that has it.
    pub fn is_still(&self, condition: &Fact, text: &str) -> bool {
        let request = Request {
            key: IdempotencyKey { namespace: Namespace::System, scope: Scope::House, text: text.into() },
            principal: Principal::System,
            confirmation: None,
            action: Action::Legs(Vec::new()),
            references: References::default(),
            facts: vec![condition.clone()],
            events: Vec::new(),
        };
        self.ledger.apply(request).unwrap().effects().is_ok()
    }

    /// A wallet agrees to be one more of a player.
    pub fn proven_link(&mut self, player: &Name, person: u8) -> ProvenWallet {
        let nonce = self.nonce();
        let text = Self::message(address(person), &nonce) + "\nRequest ID: " + &link_request_id(player);
        let Ok(SignatureCheck::Proven(wallet)) = self.check(&text, &Self::sign(person, &text)) else {
            panic!("the key of {person} signed")
        };
        wallet
    }

    pub fn link(&mut self, player: &Name, person: u8) {
        let proven = self.proven_link(player, person);
        let changes = decide_link(&self.registry, player, proven, self.now).unwrap();
        self.commit(&changes);
    }

    /// A wallet signs in; the player it is.
    pub fn sign_in(&mut self, person: u8) -> Result<Name, SignInRefusal> {
        let nonce = self.nonce();
        let text = Self::message(address(person), &nonce);
        let SignatureCheck::Proven(wallet) = self.check(&text, &Self::sign(person, &text))? else {
            panic!("the key of {person} signed")
        };
        let decision = bankroll_registry::decide_sign_in(&self.registry, wallet, self.now)?;
        self.commit(&decision.changes);
        Ok(decision.player)
    }
}
