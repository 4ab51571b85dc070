//! A small world: a chain, one wallet of ours whose key the signer has, books with some players, and the payouts role.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use bankroll_chains_evm::{BlockTag, ChainIdentity, InProcessRpc, RpcNode};
use bankroll_chains_simulated::{B256, Payment, SimulatedChain, SimulatedConfig, SimulatedKey, U256, contracts};
use bankroll_ledger::{
    AccountName, Action, Amount, Asset, ColumnValue, IdempotencyKey as RequestKey, Leg, Name, Namespace, Principal,
    References, Request, Scope, Seq, Time, Unit,
};
use bankroll_orders::{Address, ChainId, IntentId, MemoryId};
use bankroll_signer::{
    LocalKey, Memory, Signer, SigningPolicy as SignerPolicy,
    memory::CommitStage,
    policy::{ChainRules, GasPricing, SigningLimits},
};
use bankroll_signer_client::SignerClient;
use bankroll_store::{
    Audit, Clock, InboxConsumer, Ledger, LedgerOptions, Reader, Rows,
    columns::{one, text},
};
use bankroll_testkit::postgres;
use bankroll_withdrawals::{
    ApprovalPolicy, GasPayer, Intent, IntentError, Intents, PayoutConfig, PayoutOutcome, PayoutRules, StepResult,
    WITHDRAWALS, WithdrawalRequest, payouts, price::FeeCeiling, settlement,
};
use tempfile::TempDir;
use zeroize::Zeroizing;

const SECRET: [u8; 32] = [0x42; 32];
const SEED: u64 = 5;
pub const SECOND: u64 = 1_000_000;
pub const GWEI: u128 = 1_000_000_000;
pub const ETHER: u128 = 1_000_000_000 * GWEI;
pub const TRANSFER_GAS: u128 = 21_000;

/// What comes between the payouts role and the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The request is lost.
    RequestLost,
    /// It is carried out, and the answer is lost.
    AnswerLost,
    /// The signer's process dies at this write of its memory, from 0, before or after it is on disk.
    Dies(usize, bool),
}

/// The signer's process: its memory's folder, itself while it lives, and what is to come between.
pub struct SignerProcess {
    folder: TempDir,
    signer: Option<Signer>,
    pub plan: VecDeque<Between>,
    /// The time by its own clock.
    pub now: u64,
    pub limits: u128,
}

pub struct World {
    _folder: TempDir,
    options: LedgerOptions,
    open: Option<(Ledger, Rows, InboxConsumer)>,
    pub chain: Arc<Mutex<SimulatedChain>>,
    pub node: RpcNode,
    pub signer: Arc<Mutex<SignerProcess>>,
    client: SignerClient,
    pub config: PayoutConfig,
    pub policy: ApprovalPolicy,
    /// Servers whose withdrawals are paused.
    pub paused: BTreeSet<Name>,
    /// Players whom an operator has frozen.
    pub frozen: BTreeSet<Name>,
    pub now: u64,
    funded: u128,
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn key() -> LocalKey {
    LocalKey::from_bytes(&Zeroizing::new(SECRET)).unwrap()
}

fn deposit_key(text: String) -> RequestKey {
    RequestKey { namespace: Namespace::Deposits, scope: Scope::House, text }
}

pub fn wallet() -> Address {
    key().address()
}

/// Where a player is paid.
pub fn home(player: u8) -> Address {
    Address([player; 20])
}

impl SignerProcess {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        Memory::create(&path, MemoryId([1; 16]), &[key().address()], Time(SECOND)).unwrap().close().unwrap();
        Self { folder, signer: None, plan: VecDeque::new(), now: SECOND, limits: 1_000 * ETHER }
    }

    fn policy(&self) -> SignerPolicy {
        let most = Amount::new(self.limits);
        let rules = ChainRules {
            manner: GasPricing::Eip1559,
            max_price: 1_000 * GWEI,
            max_priority: 100 * GWEI,
            max_gas: 200_000,
            fees_per_window: Amount::new(1_000 * ETHER),
            native: Some(SigningLimits { per_payout: most, per_window: most }),
            tokens: BTreeMap::new(),
        };
        SignerPolicy {
            window: 3_600 * SECOND,
            wallets: [key().address()].into(),
            chains: [(ChainId(1337), rules)].into(),
        }
    }

    pub fn restart(&mut self) {
        if let Some(signer) = self.signer.take() {
            let _ = signer.close();
        }
    }

    /// What the memory's file has now.
    pub fn memory(&mut self) -> Vec<u8> {
        self.restart();
        std::fs::read(self.folder.path().join("memory.db")).unwrap()
    }

    /// An operator restores a backup.
    pub fn put_back(&mut self, memory: &[u8]) {
        self.restart();
        std::fs::write(self.folder.path().join("memory.db"), memory).unwrap();
    }

    fn answer(&mut self, request: &bankroll_orders::SignerRequest) -> io::Result<bankroll_orders::SignerAnswer> {
        // Where it stands is asked once, and changes nothing.
        let is_status = matches!(request, bankroll_orders::SignerRequest::Status { .. });
        let between = if is_status { None } else { self.plan.pop_front() };
        if between == Some(Between::RequestLost) {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        if self.signer.is_none() || matches!(between, Some(Between::Dies(..))) {
            self.restart();
            let mut memory = Memory::open(&self.folder.path().join("memory.db")).unwrap();
            if let Some(Between::Dies(at, after)) = between {
                let (mut writes, moment) =
                    (0, if after { CommitStage::AfterCommit } else { CommitStage::BeforeCommit });
                memory.interrupt_with(Box::new(move |now, _| {
                    let dies = now == moment && writes == at;
                    writes += usize::from(now == moment);
                    dies
                }));
            }
            self.signer = Some(Signer::new(self.policy(), vec![key()], memory).unwrap());
        }
        let signer = self.signer.as_mut().unwrap();
        let answer = signer.handle(request, Time(self.now));
        if signer.fault().is_some() {
            self.signer = None;
            return Err(io::Error::from(io::ErrorKind::ConnectionReset));
        }
        if between == Some(Between::AnswerLost) { Err(io::Error::from(io::ErrorKind::TimedOut)) } else { Ok(answer) }
    }
}

impl World {
    /// Alice has 10 coins, Bob 5, the house 1, and the wallet 16. Payouts are final after three blocks.
    pub fn new() -> Self {
        Self::with_house(ETHER)
    }

    pub fn with_house(house: u128) -> Self {
        let funded = 15 * ETHER + house;
        let mut config = SimulatedConfig::new(SEED);
        config.funded.push((wallet().0.into(), U256::from(funded)));
        let chain = SimulatedChain::new(config);
        let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.block(0).unwrap().hash };
        let chain = Arc::new(Mutex::new(chain));
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        let (clock, _) = Clock::manual(Time(SECOND));
        let options = LedgerOptions { clock, migrations: vec![WITHDRAWALS], ..LedgerOptions::new(location) };
        let signer = Arc::new(Mutex::new(SignerProcess::new()));
        let process = Arc::clone(&signer);
        let mut world = Self {
            _folder: folder,
            options,
            open: None,
            node: RpcNode::in_process(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&chain), 0)), identity),
            chain,
            client: SignerClient::in_process(move |request| process.lock().unwrap().answer(request)),
            signer,
            config: PayoutConfig {
                chain: name("eip155:1337"),
                chain_id: ChainId(1337),
                address: key().address(),
                custody: "@house/custody/1/hot".parse().unwrap(),
                elsewhere: std::collections::BTreeSet::new(),
                rules: PayoutRules {
                    confirmations: 3,
                    horizon: 20,
                    resend_after: 60 * SECOND,
                    stuck_after: 300 * SECOND,
                    ceiling: FeeCeiling { max: 500 * GWEI, priority: 50 * GWEI },
                    gas_max: 150_000,
                    in_flight_max: 8,
                },
                node_name: "test".into(),
            },
            policy: ApprovalPolicy { at_once: Amount::new(20 * ETHER) },
            paused: BTreeSet::new(),
            frozen: BTreeSet::new(),
            now: SECOND,
            funded,
        };
        world.restart();
        let coin = Asset { chain: name("eip155:1337"), unit: Unit::Native, decimals: 18, symbol: "SIM".into() };
        world.ledger().list_asset(coin).unwrap();
        let give = [("arena/funds/1/alice", 10 * ETHER), ("arena/funds/1/bob", 5 * ETHER), ("@house/house/1", house)];
        for (to, amount) in give.into_iter().filter(|(_, amount)| *amount > 0) {
            world.give(to, amount, "gift");
        }
        world
    }

    /// A deposit, as the books have it.
    pub fn give(&self, to: &str, amount: u128, text: &str) {
        let (from, to) = (self.account("@house/custody/1/hot"), self.account(to));
        let leg = Leg::Move { from, to, amount: Amount::new(amount) };
        self.apply(deposit_key(format!("{text}-{to}")), Principal::Indexer, leg);
    }

    /// Where the journal has the deposit that an account began with.
    pub fn gift_to(&self, account: &str) -> Seq {
        let key = deposit_key(format!("gift-{}", self.account(account)));
        self.rows().reader().find_key(&key).unwrap().unwrap().seq
    }

    /// The chain has taken a deposit back.
    pub fn reverse(&self, credit: Seq) {
        self.ask(deposit_key(format!("reverse-{credit}")), Principal::Indexer, Action::Reverse(credit));
    }

    pub fn apply(&self, key: RequestKey, principal: Principal, leg: Leg) {
        self.ask(key, principal, Action::Legs(vec![leg]));
    }

    fn ask(&self, key: RequestKey, principal: Principal, action: Action) {
        let (references, facts, events) = (References::default(), vec![], vec![]);
        let request = Request { key, principal, confirmation: None, action, references, facts, events };
        self.ledger().apply(request).unwrap().effects().unwrap();
    }

    pub fn account(&self, text: &str) -> bankroll_ledger::AccountId {
        self.ledger().open_accounts(&Principal::System, vec![text.parse().unwrap()]).unwrap()[0].unwrap()
    }

    /// Everything in memory is dropped, and the books are opened again.
    pub fn restart(&mut self) {
        if let Some((ledger, rows, consumer)) = self.open.take() {
            drop((rows, consumer));
            ledger.close();
        }
        let ledger = Ledger::open_or_create(self.options.clone()).unwrap();
        let rows = Rows::open(&ledger).unwrap();
        let consumer = settlement::consumer(ledger.location(), 100).unwrap();
        self.open = Some((ledger, rows, consumer));
    }

    pub fn ledger(&self) -> &Ledger {
        &self.open.as_ref().unwrap().0
    }

    pub fn rows(&self) -> &Rows {
        &self.open.as_ref().unwrap().1
    }

    pub fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap()
    }

    pub fn signer(&self) -> MutexGuard<'_, SignerProcess> {
        self.signer.lock().unwrap()
    }

    /// A payout of Alice's, with the house paying for gas.
    pub fn withdrawal(&self, request: &str, to: Address, amount: u128) -> WithdrawalRequest {
        WithdrawalRequest {
            principal: Principal::GameServer(name("arena")),
            server: name("arena"),
            request_id: name(request),
            wallet: name("alice"),
            account: "arena/funds/1/alice".parse().unwrap(),
            chain: name("eip155:1337"),
            to,
            amount: Amount::new(amount),
            gas: GasPayer::House,
            exit: None,
            consent: None,
        }
    }

    pub fn request(&self, withdrawal: &WithdrawalRequest) -> Result<Intent, IntentError> {
        Intents::new(self.policy).create(withdrawal, self.ledger(), self.rows())
    }

    /// Alice requests so much at this address.
    pub fn alice(&self, request: &str, to: Address, amount: u128) -> IntentId {
        self.request(&self.withdrawal(request, to, amount)).unwrap().id
    }

    /// Time passes, on every clock.
    pub fn pass(&mut self, micros: u64) {
        self.now += micros;
        self.signer.lock().unwrap().now = self.now;
    }

    /// One step of the payouts role.
    pub fn step(&mut self) -> Vec<(String, StepResult)> {
        self.pass(SECOND);
        let rows = &self.open.as_ref().unwrap().1;
        let is_frozen = |_: &Reader, player: &Name| Ok(self.frozen.contains(player));
        payouts::step(&self.config, &self.paused, &is_frozen, Time(self.now), &self.node, &mut self.client, rows)
            .unwrap_or_default()
    }

    /// Steps until one ends in this for some job.
    #[track_caller]
    pub fn step_until(&mut self, is_expected: impl Fn(&StepResult) -> bool) -> StepResult {
        for _ in 0..50 {
            if let Some((_, result)) = self.step().into_iter().find(|(_, result)| is_expected(result)) {
                return result;
            }
        }
        panic!("it never happened; jobs: {:?}", self.jobs())
    }

    pub fn mine(&self, blocks: u64) {
        let mut chain = self.chain();
        for _ in 0..blocks {
            let time = chain.next_time();
            chain.mine(time);
        }
    }

    /// The books take in what was handed over.
    pub fn settle(&mut self) {
        let now = Time(self.now);
        let (ledger, _, consumer) = self.open.as_mut().unwrap();
        while consumer.round(ledger, now).unwrap().rows() > 0 {}
    }

    /// Blocks come and steps are made until everything that can end has ended.
    pub fn finish(&mut self) {
        for _ in 0..60 {
            self.step();
            self.mine(1);
            self.pass(31 * SECOND);
            self.settle();
        }
    }

    /// Status and reason of an intent.
    pub fn status(&self, intent: &IntentId) -> String {
        let sql =
            format!("SELECT status AS a, coalesce(reason, '') AS b FROM withdrawal_requests WHERE id = '{intent}'");
        let (status, reason) = self.pairs(&sql).pop().unwrap_or_default();
        format!("{status} {reason}").trim().to_owned()
    }

    pub fn jobs(&self) -> Vec<(String, String)> {
        self.pairs("SELECT status AS a, coalesce(error_message, '') AS b FROM withdrawal_queue ORDER BY created_at, id")
    }

    pub fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        let shown = |value: &ColumnValue| match value {
            ColumnValue::Text(text) => text.clone(),
            ColumnValue::Int(number) => number.to_string(),
            ColumnValue::Amount(amount) => amount.to_string(),
            other => format!("{other:?}"),
        };
        let rows = self.rows().read(sql, vec![]).unwrap();
        rows.iter().map(|row| (shown(&row["a"]), shown(&row["b"]))).collect()
    }

    /// Balance and held amount of an account.
    pub fn standing(&self, text: &str) -> (u128, u128) {
        let account = self.rows().reader().account_named(&text.parse::<AccountName>().unwrap()).unwrap();
        account.map_or((0, 0), |account| (account.balance.units(), account.held.units()))
    }

    /// What our wallet has paid on the canonical chain: to whom, and how much; a payment to itself is a cancel.
    pub fn payments(&self) -> Vec<(Address, u128, B256)> {
        let head = self.chain().head().number();
        let (mut paid, all) = (
            Vec::new(),
            RpcNode::in_process(
                InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&self.chain), 7)),
                self.node.identity(),
            ),
        );
        for number in 1..=head {
            let block = all.block(BlockTag::Number(number)).unwrap().unwrap();
            let ours = block.transactions.iter().filter(|tx| tx.sender().unwrap() == wallet() && tx.succeeded);
            paid.extend(ours.map(|tx| (tx.to.unwrap(), tx.value.amount().unwrap().units(), tx.hash)));
        }
        paid
    }

    /// How often an address was paid so much.
    pub fn paid(&self, to: Address, amount: u128) -> usize {
        self.payments().iter().filter(|(paid, value, _)| (*paid, *value) == (to, amount)).count()
    }

    /// The books computed again; and, if everything is settled, the wallet has on chain what the books say.
    pub fn audit(&self) {
        Audit::new(Reader::open(self.ledger().location()).unwrap()).run(|_| {}).unwrap();
    }

    pub fn audit_at_rest(&self) {
        self.audit();
        let held = self.chain().balance(wallet().0.into());
        assert_eq!(U256::from(self.standing("@house/custody/1/hot").0), held, "of {} at first", self.funded);
    }

    /// Another program uses the key of the wallet.
    pub fn foreign_payment(&self, nonce: u64, max_fee: u128) {
        self.steal(nonce, 1, max_fee);
    }

    /// A thief takes coins out of the wallet, before it was ever used.
    pub fn drain(&self, amount: u128) {
        let nonce = self.chain().nonce(wallet().0.into());
        self.steal(nonce, amount, 400 * GWEI);
        self.mine(1);
    }

    fn steal(&self, nonce: u64, amount: u128, max_fee: u128) {
        let stolen = SimulatedKey::from_bytes(B256::from(SECRET)).unwrap();
        let payment = Payment::new(1337, nonce, [0xee; 20].into(), U256::from(amount));
        self.chain().send(&stolen.sign(&payment.paying(max_fee, max_fee / 2))).unwrap();
    }

    /// Another program has the signer promise never to sign an intent, and the rows do not show it.
    pub fn revoke_elsewhere(&self, intent: &IntentId) {
        let process = Arc::clone(&self.signer);
        let mut elsewhere = SignerClient::in_process(move |request| process.lock().unwrap().answer(request));
        let head = elsewhere.status(self.config.address, None).unwrap().head;
        elsewhere.revoke(intent, self.config.address, head).unwrap();
    }

    /// The only job pays a contract that accepted the payout when it was estimated, and refuses it from then on.
    pub fn prepare_for_refusing_contract(&self) {
        let to = vec![text(&Address(contracts::REFUSING.into()).to_string())];
        let prepared = "INSERT INTO payout_attempts (job, number, order_id, meaning, manner, gas_limit, max_fee,
            priority_fee, created_at) SELECT id, 1, 'order-1', 'payout', 'dynamic', 100000, $1, $2, 0 FROM withdrawal_queue";
        let fees = [10 * GWEI, GWEI].map(|fee| ColumnValue::Amount(Amount::new(fee)));
        let statements = vec![
            one("UPDATE withdrawal_queue SET to_address = $1, status = 'signing'", to),
            one(prepared, fees.to_vec()),
        ];
        self.rows().write(statements).unwrap();
    }

    /// The treasury puts coins into the wallet.
    pub fn refill(&self, amount: u128) {
        let payment = Payment::new(1337, 0, wallet().0.into(), U256::from(amount));
        self.chain().send(&SimulatedKey::derived(SEED, 0).sign(&payment)).unwrap();
        self.mine(1);
    }
}

pub const fn paid(result: &StepResult) -> bool {
    matches!(result, StepResult::Ended(PayoutOutcome::Paid))
}

pub const fn sent(result: &StepResult) -> bool {
    matches!(result, StepResult::Sent { .. })
}
