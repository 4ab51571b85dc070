//! The players' wallets: players get coins at an exchange and pay them in, with transactions that they sign themselves.
//! The treasury pays in the house's capital. A player signs in before their first payment: see `arrivals`.
//!
//! Guarantees: a payment counts as credited when the books have announced it, and never before. It uses the chain as
//! any client does, and reads only the events of the books.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail};
use bankroll_chains_simulated::{Payment, SimulatedKey, U256};
use bankroll_deposits::credit::CREDITED;
use bankroll_ledger::{Amount, Seq};
use bankroll_orders::Address;
use bankroll_roles::flows::StopFlag;
use bankroll_store::Reader;
use serde::Deserialize;

use super::chain::{CHAIN_ID, SharedChain, exchange, lock, treasury};

/// How often payments are sent and events are read.
const STEP: Duration = Duration::from_millis(5);
/// Far longer than a deposit takes, a takeover of the books included.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// What a player buys at the exchange when they have too little: one coin.
const COINS: u128 = 1_000_000_000_000_000_000;
/// More than gas ever costs here.
const GAS: u128 = 3_000_000_000_000_000;
const EVENTS: usize = 1_000;

/// The index of a wallet; the treasury's is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalletId(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentId(usize);

pub const TREASURY: WalletId = WalletId(0);

#[derive(Debug)]
pub struct PlayerWallets {
    state: Arc<(Mutex<WalletsState>, Condvar)>,
    stop: StopFlag,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct WalletsState {
    wallets: Vec<PlayerWallet>,
    /// Payments whose players must sign in first.
    arriving: VecDeque<(PaymentId, WalletId, Amount)>,
    /// Payments that were given up before their players had come.
    cancelled: HashSet<usize>,
    signed_in: u64,
    /// Payments that are not sent yet.
    unsent: VecDeque<(PaymentId, WalletId, Amount)>,
    /// Payments that are sent and not credited, by their transaction hashes.
    sent: HashMap<String, PaymentId>,
    credited: Vec<bool>,
    /// Whether the worker has failed, or the game has given up: no payment will be credited any more.
    failed: bool,
    /// Why the worker failed, until it is reported.
    failure: Option<anyhow::Error>,
}

#[derive(Debug)]
struct PlayerWallet {
    key: SimulatedKey,
    address: Address,
    nonce: u64,
    /// Whether coins from the exchange are in flight.
    is_waiting: bool,
    /// Whether payments from it are attributed: its player has signed in, or it is the treasury's.
    is_known: bool,
}

impl PlayerWallet {
    fn new(key: SimulatedKey, nonce: u64) -> Self {
        Self { address: Address(key.address().into_array()), key, nonce, is_waiting: false, is_known: false }
    }
}

/// The field of a credited deposit's event that matters here.
#[derive(Deserialize)]
struct Credited {
    tx_hash: String,
}

impl PlayerWallets {
    /// All payments go to the wallet `to`.
    pub fn open(chain: &SharedChain, to: Address, reader: Reader) -> anyhow::Result<Self> {
        let of_treasury = treasury();
        let nonce = lock(chain).nonce(of_treasury.address());
        let first = PlayerWallet { is_known: true, ..PlayerWallet::new(of_treasury, nonce) };
        let state = WalletsState { wallets: vec![first], ..WalletsState::default() };
        let (state, stop) = (Arc::new((Mutex::new(state), Condvar::new())), StopFlag::default());
        let bank = PlayerWallet::new(exchange(), lock(chain).nonce(exchange().address()));
        let read_until = reader.head()?.seq;
        let mut worker =
            WalletWorker { state: Arc::clone(&state), chain: Arc::clone(chain), to, reader, read_until, bank };
        let over = stop.clone();
        let thread = thread::spawn(move || worker.run(&over));
        Ok(Self { state, stop, thread })
    }

    /// Adds a new player's wallet.
    pub fn add(&self, key: SimulatedKey) -> WalletId {
        let mut state = self.state();
        state.wallets.push(PlayerWallet::new(key, 0));
        WalletId(state.wallets.len() - 1)
    }

    /// Pays in, after the player has signed in. It takes a few blocks until the payment is credited.
    pub fn pay(&self, wallet: WalletId, amount: Amount) -> PaymentId {
        let mut state = self.state();
        let id = PaymentId(state.credited.len());
        state.credited.push(false);
        if state.wallets.get(wallet.0).is_some_and(|wallet| wallet.is_known) {
            state.unsent.push_back((id, wallet, amount));
        } else {
            state.arriving.push_back((id, wallet, amount));
            self.state.1.notify_all();
        }
        id
    }

    /// Players who have not begun to sign in stay away, and pay nothing.
    pub fn cancel_arrivals(&self) {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.arriving);
        state.cancelled.extend(waiting.into_iter().map(|(payment, ..)| payment.0));
    }

    /// The players who have signed in.
    pub fn signed_in(&self) -> u64 {
        self.state().signed_in
    }

    pub fn arrivals(&self) -> ArrivalQueue {
        ArrivalQueue { state: Arc::clone(&self.state) }
    }

    pub fn is_credited(&self, payment: PaymentId) -> bool {
        self.state().credited.get(payment.0).is_some_and(|credited| *credited)
    }

    /// Fails if the worker has failed: no player can pay any more.
    pub fn check(&self) -> anyhow::Result<()> {
        self.state().failure.take().map_or(Ok(()), Err)
    }

    /// Ends all waits: the game cannot continue.
    pub fn give_up(&self) {
        self.state().failed = true;
        self.state.1.notify_all();
    }

    /// Waits until the books have credited the payment, and returns whether they have after this time.
    pub fn wait_within(&self, payment: PaymentId, time: Duration) -> bool {
        let is_open = |state: &mut WalletsState| {
            !state.failed && !state.credited.get(payment.0).is_some_and(|credited| *credited)
        };
        drop(self.state.1.wait_timeout_while(self.state(), time, is_open));
        self.is_credited(payment)
    }

    /// Waits until the books have credited the payment; `false` if it was cancelled.
    pub fn wait(&self, payment: PaymentId) -> anyhow::Result<bool> {
        let (until, mut state) = (Instant::now() + PATIENCE, self.state());
        while !state.credited.get(payment.0).is_some_and(|credited| *credited) {
            if state.cancelled.contains(&payment.0) {
                return Ok(false);
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.failed || left.is_zero() {
                bail!("a payment is on the chain, but the books did not credit it in time");
            }
            state = self.state.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(true)
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.request();
        let panicked = "the thread of the players' wallets panicked; its message is above";
        self.thread.join().map_err(|_| anyhow!(panicked))?;
        guard(&self.state.0).failure.take().map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, WalletsState> {
        guard(&self.state.0)
    }
}

/// The players who come for the first time, for the threads that sign them in.
#[derive(Clone, Debug)]
pub struct ArrivalQueue {
    state: Arc<(Mutex<WalletsState>, Condvar)>,
}

/// A player who comes for the first time, to pay.
#[derive(Debug)]
pub struct ArrivingPlayer {
    payment: (PaymentId, WalletId, Amount),
    pub key: SimulatedKey,
}

impl ArrivalQueue {
    /// The next player, if there is one within this time.
    pub fn next_within(&self, time: Duration) -> Option<ArrivingPlayer> {
        let is_empty = |state: &mut WalletsState| state.arriving.is_empty();
        let waited = self.state.1.wait_timeout_while(guard(&self.state.0), time, is_empty);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let payment = state.arriving.pop_front()?;
        let key = state.wallets.get(payment.1.0)?.key.clone();
        Some(ArrivingPlayer { payment, key })
    }

    /// The player has signed in, so that they can pay.
    pub fn signed_in(&self, player: &ArrivingPlayer) {
        let mut state = guard(&self.state.0);
        state.signed_in += 1;
        if let Some(wallet) = state.wallets.get_mut(player.payment.1.0) {
            wallet.is_known = true;
        }
        state.unsent.push_back(player.payment);
    }

    /// No player can come any more.
    pub fn fail(&self, error: anyhow::Error) {
        let mut state = guard(&self.state.0);
        (state.failed, state.failure) = (true, Some(error.context("players cannot sign in any more")));
        drop(state);
        self.state.1.notify_all();
    }
}

fn guard(state: &Mutex<WalletsState>) -> MutexGuard<'_, WalletsState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct WalletWorker {
    state: Arc<(Mutex<WalletsState>, Condvar)>,
    chain: SharedChain,
    to: Address,
    reader: Reader,
    read_until: Seq,
    bank: PlayerWallet,
}

impl WalletWorker {
    fn run(&mut self, stop: &StopFlag) {
        while !stop.is_requested() {
            if let Err(error) = self.send().and_then(|()| self.read_events()) {
                let mut state = guard(&self.state.0);
                (state.failed, state.failure) = (true, Some(error.context("players cannot pay any more")));
                drop(state);
                self.state.1.notify_all();
                return;
            }
            stop.rest(STEP);
        }
    }

    /// Sends every payment whose wallet has the coins; the others get coins from the exchange first.
    fn send(&mut self) -> anyhow::Result<()> {
        let unsent = std::mem::take(&mut guard(&self.state.0).unsent);
        for (id, wallet, amount) in unsent {
            let mut state = guard(&self.state.0);
            let of = state.wallets.get_mut(wallet.0).context("unknown wallet")?;
            let need = U256::from(amount.units().saturating_add(GAS));
            let has = lock(&self.chain).balance(of.address.0.into());
            if has < need {
                if !std::mem::replace(&mut of.is_waiting, true) {
                    let to = of.address;
                    drop(state);
                    let raw = signed(&mut self.bank, to, U256::from(COINS).saturating_add(need));
                    lock(&self.chain).send(&raw).context("the exchange cannot pay")?;
                    state = guard(&self.state.0);
                }
                state.unsent.push_back((id, wallet, amount));
                continue;
            }
            of.is_waiting = false;
            let raw = signed(of, self.to, U256::from(amount.units()));
            let hash = lock(&self.chain).send(&raw).context("a player cannot pay")?;
            state.sent.insert(format!("{hash:#x}"), id);
        }
        Ok(())
    }

    /// Reads the events of the books since the last call. If they cannot be read now, a later call reads them.
    fn read_events(&mut self) -> anyhow::Result<()> {
        let Ok(events) = self.reader.events_after(self.read_until, EVENTS) else { return Ok(()) };
        let mut state = guard(&self.state.0);
        for event in events {
            self.read_until = event.seq;
            if event.kind != CREDITED {
                continue;
            }
            let Credited { tx_hash } =
                serde_json::from_str(&event.body).context("an event of the books is malformed")?;
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
fn signed(wallet: &mut PlayerWallet, to: Address, value: U256) -> bankroll_chains_simulated::Bytes {
    let raw = wallet.key.sign(&Payment::new(CHAIN_ID, wallet.nonce, to.0.into(), value));
    wallet.nonce += 1;
    raw
}
