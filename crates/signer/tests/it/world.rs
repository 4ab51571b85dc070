//! A signer in its own folder with a manual clock, and helpers for orders.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use bankroll_money::{Amount, Time};
use bankroll_orders::{
    Address, ChainId, Gas, IntentId, Meaning, MemoryHead, MemoryId, Order, OrderId, Price, SignedTransaction,
    SignerAnswer, SignerRefusal, SignerRequest, Slot,
};
use bankroll_signer::{
    LocalKey, Memory, Signer, SigningPolicy,
    memory::{MemoryFaultPoint, OpenError},
    policy::{ChainRules, GasPricing, SigningLimits},
};
use tempfile::TempDir;
use zeroize::Zeroizing;

pub const SECRET: [u8; 32] = [0x42; 32];
pub const PLAYER: Address = Address([0xab; 20]);
pub const TOKEN: Address = Address([0xee; 20]);
pub const CHAIN: ChainId = ChainId(31337);
pub const LEGACY: ChainId = ChainId(56);
/// Noon, on 15 November 2026.
pub const NOON: Time = Time(1_794_744_000_000_000);
pub const HOUR: u64 = 3_600_000_000;

pub fn key() -> LocalKey {
    LocalKey::from_bytes(&Zeroizing::new(SECRET)).unwrap()
}

pub fn wallet() -> Address {
    key().address()
}

/// In 24 hours: 2,500 coins of at most 1,000 each, 800 tokens of at most 500 each, and fees of 100 million.
pub fn policy() -> SigningPolicy {
    let limits = |per_payout, per_window| SigningLimits {
        per_payout: Amount::new(per_payout),
        per_window: Amount::new(per_window),
    };
    let rules = ChainRules {
        manner: GasPricing::Eip1559,
        max_price: 1_000,
        max_priority: 100,
        max_gas: 100_000,
        fees_per_window: Amount::new(100_000_000),
        native: Some(limits(1_000, 2_500)),
        tokens: [(TOKEN, limits(500, 800))].into(),
    };
    let legacy = ChainRules { manner: GasPricing::Legacy, max_priority: 1_000, tokens: [].into(), ..rules.clone() };
    SigningPolicy { window: 24 * HOUR, wallets: [wallet()].into(), chains: [(CHAIN, rules), (LEGACY, legacy)].into() }
}

/// Pays a player coins on the usual chain at 80, of which 8 as priority, within the hour.
pub fn pay(intent: &str, nonce: u64, amount: u128) -> Order {
    Order {
        id: OrderId(format!("{intent}.{nonce}.{amount}").parse().unwrap()),
        intent: IntentId(intent.parse().unwrap()),
        slot: Slot { chain: CHAIN, wallet: wallet(), nonce },
        meaning: Meaning::NativePayout { to: PLAYER, amount: Amount::new(amount) },
        gas: Gas { limit: 21_000, price: Price::Dynamic { max: 80, priority: 8 } },
        expires: Time(NOON.0 + HOUR),
    }
}

pub fn pay_token(intent: &str, nonce: u64, amount: u128) -> Order {
    let meaning = Meaning::TokenPayout { token: TOKEN, to: PLAYER, amount: Amount::new(amount) };
    Order { meaning, gas: Gas { limit: 60_000, ..pay(intent, nonce, amount).gas }, ..pay(intent, nonce, amount) }
}

/// The same, under another id and at another price.
pub fn at(order: &Order, max: u128, priority: u128) -> Order {
    let id = OrderId(format!("{}.at.{max}.{priority}", order.id).parse().unwrap());
    Order { id, gas: Gas { price: Price::Dynamic { max, priority }, ..order.gas }, ..order.clone() }
}

/// Cancels an intent.
pub fn cancel(intent: &str, nonce: u64) -> Order {
    let order = pay(intent, nonce, 0);
    Order { id: OrderId(format!("{intent}.{nonce}.cancel").parse().unwrap()), meaning: Meaning::Cancel, ..order }
}

pub struct World {
    pub folder: TempDir,
    pub signer: Option<Signer>,
    pub head: MemoryHead,
    pub now: Time,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::create(&folder.path().join("memory.db"), MemoryId([1; 16]), &[wallet()], NOON).unwrap();
        let signer = Signer::new(policy(), vec![key()], memory).unwrap();
        let head = key().seal(signer.memory().head());
        Self { folder, signer: Some(signer), head, now: NOON }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("memory.db")
    }

    /// Sends the newest head, and stores the head of the answer.
    pub fn answer(&mut self, request: &SignerRequest) -> SignerAnswer {
        let answer = self.signer.as_mut().unwrap().handle(request, self.now);
        self.head = answer.head().copied().unwrap_or(self.head);
        answer
    }

    pub fn ask(&mut self, order: &Order) -> Result<SignedTransaction, SignerRefusal> {
        match self.answer(&SignerRequest::Sign { order: order.clone(), approvals: vec![], head: self.head }) {
            SignerAnswer::Signed(signed) => Ok(signed),
            SignerAnswer::Refused { refusal, .. } => Err(refusal),
            other => panic!("{order:?}: {other:?}"),
        }
    }

    /// Asserts that it is signed; returns the bytes.
    #[track_caller]
    pub fn signs(&mut self, order: &Order) -> Vec<u8> {
        self.ask(order).unwrap_or_else(|refusal| panic!("{order:?}: {refusal}")).raw
    }

    #[track_caller]
    pub fn refuses(&mut self, order: &Order, refusal: SignerRefusal) {
        assert_eq!(self.ask(order).map(|signed| signed.raw), Err(refusal), "{order:?}");
    }

    pub fn revoke(&mut self, intent: &str) -> Result<(), SignerRefusal> {
        let intent = IntentId(intent.parse().unwrap());
        match self.answer(&SignerRequest::Revoke { intent, wallet: wallet(), head: self.head }) {
            SignerAnswer::Revoked { .. } => Ok(()),
            SignerAnswer::Refused { refusal, .. } => Err(refusal),
            other => panic!("{other:?}"),
        }
    }

    pub fn open(&self) -> Result<Signer, OpenError> {
        Signer::new(policy(), vec![key()], Memory::open(&self.path())?)
    }

    /// Crashes and restarts.
    pub fn restart(&mut self) {
        self.signer = None;
        self.signer = Some(self.open().unwrap());
    }

    /// Restarts with fault points in the memory.
    pub fn restart_with(&mut self, interrupt: MemoryFaultPoint) {
        self.signer = None;
        let mut memory = Memory::open(&self.path()).unwrap();
        memory.interrupt_with(interrupt);
        self.signer = Some(Signer::new(policy(), vec![key()], memory).unwrap());
    }
}

/// The seed of this run.
pub fn seed() -> u64 {
    std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap())
}

/// How long a random test goes on: so often, and in a soak for a third of its time, because a few run at once.
pub struct Soak {
    usual: usize,
    ends: Option<Instant>,
}

impl Soak {
    pub fn unless_soaking(usual: usize) -> Self {
        let seconds = std::env::var("BANKROLL_SOAK_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
        Self { usual, ends: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds) / 3) }
    }

    /// Whether it continues after `done` rounds.
    pub fn goes_on(&self, done: usize) -> bool {
        self.ends.map_or(done < self.usual, |ends| done == 0 || Instant::now() < ends)
    }

    /// Rounds, each to have a seed of its own.
    pub fn seeds(self) -> impl Iterator<Item = u64> {
        (0..).take_while(move |round| self.goes_on(*round)).map(|round| seed().wrapping_add(round as u64))
    }
}

/// Prints a line that the test runner does not swallow when the test passes: the counts are part of the result.
pub fn print_line(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
