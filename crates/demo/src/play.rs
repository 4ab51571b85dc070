//! The threads: each game sends requests, waits, and applies the answers; the view reads the tally.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use anyhow::anyhow;
use bankroll_ledger::Amount;
use bankroll_terminal::StopSignal;

use super::{
    context::GameContext,
    funds::GameClient,
    game::{ArenaGame, Turn},
    player_wallets::{PaymentId, PlayerWallets},
    requests::NumberedRequest,
    service::DemoService,
    tally::GameTally,
    tempo,
    view::DemoView,
};

/// Maximum number of requests in one call.
const CALL_MAX: usize = 1_000;
const VIEW_PAUSE: Duration = Duration::from_millis(100);
/// How long a game pauses while all its players wait for the chain.
const IDLE_PAUSE: Duration = Duration::from_millis(1);
/// While more players of a game sign in or wait for the chain, no new ones arrive.
const WAITING_MAX: usize = 128;
/// How many turns a payment takes in a game of counted turns.
const DUE_AFTER: u64 = 8;

#[derive(Debug)]
pub struct Played {
    pub tally: GameTally,
    pub took: Duration,
    pub interrupted: bool,
}

/// How many requests fit into one call: a call larger than the queue could never be accepted.
pub fn call_max(queue_max: usize) -> usize {
    CALL_MAX.min(queue_max / 2).max(1)
}

/// When the arena closes.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    Time(Duration),
    /// After this number of turns of each game, however long they take: the same seed gives the same result.
    Ticks(u64),
    /// On Ctrl-C only.
    Endless,
}

impl Length {
    fn is_over(self, elapsed: Duration) -> bool {
        matches!(self, Self::Time(time) if elapsed >= time)
    }

    /// Whether half of the play is over, for a game that has played this number of turns.
    fn is_half_over(self, elapsed: Duration, turns: u64) -> bool {
        match self {
            Self::Time(time) => elapsed >= time / 2,
            Self::Ticks(ticks) => turns >= ticks / 2,
            Self::Endless => false,
        }
    }
}

/// A payment that the books have not credited yet.
struct PendingPayment {
    player: usize,
    paid: Amount,
    payment: PaymentId,
    due: u64,
}

struct Play<'a> {
    service: &'a DemoService,
    wallets: &'a PlayerWallets,
    call_max: usize,
    length: Length,
    begun: Instant,
    tally: Mutex<GameTally>,
    over: AtomicBool,
}

/// Plays until the time is over, Ctrl-C, or a failure.
pub fn run(
    context: &GameContext<'_>,
    games: Vec<ArenaGame>,
    call_max: usize,
    length: Length,
    stop_signal: &StopSignal,
    view: &mut DemoView,
) -> anyhow::Result<Played> {
    let (begun, service, wallets) = (Instant::now(), context.service, &context.environment.wallets);
    let play =
        Play { service, wallets, call_max, length, begun, tally: Mutex::default(), over: AtomicBool::new(false) };
    let (mut last, mut failure) = ((0, begun), None);
    let ended = thread::scope(|scope| {
        let start = |game| {
            let client = context.client();
            scope.spawn(|| play.play(game, client))
        };
        let threads: Vec<_> = games.into_iter().map(start).collect();
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(VIEW_PAUSE);
            let tally = play.tally().clone();
            view.show(context, &tally, begun.elapsed());
            if tally.transfers != last.0 {
                last = (tally.transfers, Instant::now());
            } else if last.1.elapsed() >= tempo::CHECK_EVERY && failure.is_none() {
                last.1 = Instant::now();
                failure = context.check().err();
                if failure.is_some() {
                    context.give_up();
                    play.over.store(true, Ordering::Relaxed);
                }
            }
            if stop_signal.is_requested() || length.is_over(begun.elapsed()) {
                play.over.store(true, Ordering::Relaxed);
            }
        }
        threads
            .into_iter()
            .try_for_each(|game| game.join().map_err(|_| anyhow!("a game panicked; its message is above"))?)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    if ended.is_err() {
        // A game knows only that it got no answer.
        context.check()?;
    }
    ended?;
    let interrupted = stop_signal.is_requested();
    let tally = play.tally().clone();
    Ok(Played { tally, took: begun.elapsed(), interrupted })
}

impl Play<'_> {
    /// Plays one game. If it fails or panics, all games end: the result would be incomplete.
    fn play(&self, game: ArenaGame, client: GameClient) -> anyhow::Result<()> {
        let end_all = EndGameOnDrop(&self.over);
        self.play_to_end(game, &client)?;
        std::mem::forget(end_all);
        Ok(())
    }

    /// Plays turns until the time is over; then closes the game.
    fn play_to_end(&self, mut game: ArenaGame, client: &GameClient) -> anyhow::Result<()> {
        let is_last = |game: &ArenaGame| matches!(self.length, Length::Ticks(ticks) if game.turns() >= ticks);
        let is_counted = matches!(self.length, Length::Ticks(_));
        let mut pending = Vec::new();
        while !self.over.load(Ordering::Relaxed) && !is_last(&game) {
            if game.number == 0 && self.length.is_half_over(self.begun.elapsed(), game.turns()) {
                self.service.half_time()?;
            }
            self.admit_paid(&mut game, &mut pending)?;
            let Turn { requests, payments } = game.turn(self.call_max, is_counted || pending.len() < WAITING_MAX);
            for (player, paid) in payments {
                let payment = self.wallets.pay(game.wallet(player), paid);
                pending.push(PendingPayment { player, paid, payment, due: game.turns() + DUE_AFTER });
            }
            if requests.is_empty() && !pending.is_empty() && !is_counted {
                thread::sleep(IDLE_PAUSE);
            }
            self.call(&mut game, client, &requests)?;
        }
        if !is_last(&game) {
            self.wallets.cancel_arrivals();
        }
        for paid in &pending {
            self.admit(&mut game, paid)?;
        }
        // Players may have come without a single request.
        self.tally().crowds.insert(game.number, game.crowd());
        loop {
            let requests = game.close(self.call_max);
            if requests.is_empty() {
                return Ok(());
            }
            self.call(&mut game, client, &requests)?;
        }
    }

    /// Admits players whose payments are credited. In a game of counted turns a player is admitted a fixed number of
    /// turns after the payment, however long that takes, so that every run is the same.
    fn admit_paid(&self, game: &mut ArenaGame, pending: &mut Vec<PendingPayment>) -> anyhow::Result<()> {
        let is_counted = matches!(self.length, Length::Ticks(_));
        let mut still = Vec::new();
        for paid in pending.drain(..) {
            let comes = if is_counted { paid.due <= game.turns() } else { self.wallets.is_credited(paid.payment) };
            if !comes {
                still.push(paid);
                continue;
            }
            self.admit(game, &paid)?;
        }
        *pending = still;
        Ok(())
    }

    /// Admits a player when their payment is credited; one who stayed away is not admitted.
    fn admit(&self, game: &mut ArenaGame, paid: &PendingPayment) -> anyhow::Result<()> {
        if self.wallets.wait(paid.payment)? {
            game.credited(paid.player, paid.paid, &mut self.tally());
        }
        Ok(())
    }

    fn call(&self, game: &mut ArenaGame, client: &GameClient, requests: &[NumberedRequest]) -> anyhow::Result<()> {
        if requests.is_empty() {
            return Ok(());
        }
        let outcomes = client.ask(game, requests, || self.tally().busy += 1)?;
        let mut tally = self.tally();
        for (request, outcome) in requests.iter().zip(outcomes) {
            game.apply_answer(request, outcome, &mut tally)?;
        }
        tally.crowds.insert(game.number, game.crowd());
        Ok(())
    }

    fn tally(&self) -> MutexGuard<'_, GameTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all games when it is dropped.
struct EndGameOnDrop<'a>(&'a AtomicBool);

impl Drop for EndGameOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
