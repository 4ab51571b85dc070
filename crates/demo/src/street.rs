//! The street: players with wallets of their own, who get coins at an exchange and pay them in, with transactions that they
//! sign themselves; and the treasury, which brings the house's capital.
//!
//! Guarantees: a payment is told as credited when the books have announced it, and never before. It knows the chain as
//! anybody does, and of the books only what they announce.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use bankroll_chains_simulated::{Address, Key, Payment, U256};
use bankroll_ledger::{Amount, Seq};
use bankroll_roles::flows::Stop;
use bankroll_store::Reader;
use serde::Deserialize;

use super::chain::{CHAIN_ID, Shared, exchange, lock, treasury};

/// How often the street looks around.
const STEP: Duration = Duration::from_millis(5);
/// Far longer than a deposit takes, a takeover of the books included.
const PATIENCE: Duration = Duration::from_secs(90);
/// What a player buys at the exchange when he has nothing left: one coin.
const COINS: u128 = 1_000_000_000_000_000_000;
/// More than gas ever costs here.
const GAS: u128 = 3_000_000_000_000_000;
const EVENTS: usize = 1_000;

/// Whose wallet: the treasury's is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalletId(usize);

/// One payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentId(usize);

pub const TREASURY: WalletId = WalletId(0);

#[derive(Debug)]
pub struct Street {
    state: Arc<(Mutex<State>, Condvar)>,
    stop: Stop,
    thread: JoinHandle<anyhow::Result<()>>,
}

#[derive(Debug, Default)]
struct State {
    wallets: Vec<Wallet>,
    /// Payments that somebody wants to make.
    wishes: VecDeque<(PaymentId, WalletId, Amount)>,
    /// Those that are on their way, by the hashes of their transactions.
    sent: HashMap<String, PaymentId>,
    credited: Vec<bool>,
    /// Why nothing goes on any more.
    failed: bool,
}

#[derive(Debug)]
struct Wallet {
    key: Key,
    address: Address,
    nonce: u64,
    /// Whether coins from the exchange are on their way.
    is_waiting: bool,
}

impl Wallet {
    fn new(key: Key, nonce: u64) -> Self {
        Self { address: key.address(), key, nonce, is_waiting: false }
    }
}

/// What the books announce of a deposit, as far as it matters here.
#[derive(Deserialize)]
struct Credited {
    tx_hash: String,
}

impl Street {
    /// Everybody pays to this wallet.
    pub fn open(chain: &Shared, to: Address, reader: Reader) -> anyhow::Result<Self> {
        let of_treasury = treasury();
        let nonce = lock(chain).nonce(of_treasury.address());
        let state = State { wallets: vec![Wallet::new(of_treasury, nonce)], ..State::default() };
        let (state, stop) = (Arc::new((Mutex::new(state), Condvar::new())), Stop::default());
        let bank = Wallet::new(exchange(), lock(chain).nonce(exchange().address()));
        let heard = reader.head()?.seq;
        let mut walk = Walk { state: Arc::clone(&state), chain: Arc::clone(chain), to, reader, heard, bank };
        let over = stop.clone();
        let thread = thread::spawn(move || walk.run(&over));
        Ok(Self { state, stop, thread })
    }

    /// A new player's wallet.
    pub fn add(&self, key: Key) -> WalletId {
        let mut state = self.state();
        state.wallets.push(Wallet::new(key, 0));
        WalletId(state.wallets.len() - 1)
    }

    /// Somebody pays in. It takes a few blocks.
    pub fn pay(&self, wallet: WalletId, amount: Amount) -> PaymentId {
        let mut state = self.state();
        let id = PaymentId(state.credited.len());
        state.credited.push(false);
        state.wishes.push_back((id, wallet, amount));
        id
    }

    pub fn is_credited(&self, payment: PaymentId) -> bool {
        self.state().credited.get(payment.0).is_some_and(|credited| *credited)
    }

    /// Waits until the books have it.
    pub fn wait(&self, payment: PaymentId) -> anyhow::Result<()> {
        let (until, mut state) = (Instant::now() + PATIENCE, self.state());
        while !state.credited.get(payment.0).is_some_and(|credited| *credited) {
            let left = until.saturating_duration_since(Instant::now());
            if state.failed || left.is_zero() {
                bail!("a payment is on the chain and the books do not credit it");
            }
            state = self.state.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.ask();
        self.thread.join().map_err(|_| anyhow!("the street panicked; its message is above"))?
    }

    fn state(&self) -> MutexGuard<'_, State> {
        guard(&self.state.0)
    }
}

fn guard(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Walk {
    state: Arc<(Mutex<State>, Condvar)>,
    chain: Shared,
    to: Address,
    reader: Reader,
    heard: Seq,
    bank: Wallet,
}

impl Walk {
    fn run(&mut self, stop: &Stop) -> anyhow::Result<()> {
        while !stop.is_asked() {
            let done = self.send().and_then(|()| self.hear());
            if done.is_err() {
                guard(&self.state.0).failed = true;
                self.state.1.notify_all();
                return done.context("players cannot pay any more");
            }
            stop.rest(STEP);
        }
        Ok(())
    }

    /// Whoever has the coins pays; whoever has not gets some first.
    fn send(&mut self) -> anyhow::Result<()> {
        let wishes = std::mem::take(&mut guard(&self.state.0).wishes);
        for (id, wallet, amount) in wishes {
            let mut state = guard(&self.state.0);
            let of = state.wallets.get_mut(wallet.0).context("a wallet that nobody has")?;
            let need = U256::from(amount.units().saturating_add(GAS));
            let has = lock(&self.chain).balance(of.address);
            if has < need {
                if !std::mem::replace(&mut of.is_waiting, true) {
                    let to = of.address;
                    drop(state);
                    let raw = signed(&mut self.bank, to, U256::from(COINS).saturating_add(need));
                    lock(&self.chain).send(&raw).context("the exchange cannot pay")?;
                    state = guard(&self.state.0);
                }
                state.wishes.push_back((id, wallet, amount));
                continue;
            }
            of.is_waiting = false;
            let raw = signed(of, self.to, U256::from(amount.units()));
            let hash = lock(&self.chain).send(&raw).context("a player cannot pay")?;
            state.sent.insert(format!("{hash:#x}"), id);
        }
        Ok(())
    }

    /// What the books have announced since. If they cannot be read just now, then later.
    fn hear(&mut self) -> anyhow::Result<()> {
        let Ok(events) = self.reader.events_after(self.heard, EVENTS) else { return Ok(()) };
        let mut state = guard(&self.state.0);
        for event in events {
            self.heard = event.seq;
            if event.kind != "deposit.credited" {
                continue;
            }
            let Credited { tx_hash } =
                serde_json::from_str(&event.body).context("an announcement nobody understands")?;
            if let Some(id) = state.sent.remove(&tx_hash) {
                state.credited[id.0] = true;
            }
        }
        drop(state);
        self.state.1.notify_all();
        Ok(())
    }
}

/// The wallet's next transaction.
fn signed(wallet: &mut Wallet, to: Address, value: U256) -> bankroll_chains_simulated::Bytes {
    let raw = wallet.key.sign(&Payment::new(CHAIN_ID, wallet.nonce, to, value));
    wallet.nonce += 1;
    raw
}
