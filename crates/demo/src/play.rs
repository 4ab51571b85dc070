//! The threads: each room asks, waits, and takes in the answers; whoever watches looks at the tally.

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
use bankroll_terminal::Interrupt;

use super::{
    asks::Asked,
    outside::Outside,
    room::{Room, Turn},
    street::{PaymentId, Street},
    tally::Tally,
    teller::Teller,
    view::View,
};

/// Asks in one call at the most.
const CALL_MAX: usize = 1_000;
const VIEW_PAUSE: Duration = Duration::from_millis(100);
/// How long a room waits in which everybody waits for the chain.
const IDLE_PAUSE: Duration = Duration::from_millis(1);
/// How many turns a payment takes, where turns are counted.
const DUE_AFTER: u64 = 8;

/// What a game came to.
#[derive(Debug)]
pub struct Played {
    pub tally: Tally,
    pub took: Duration,
    pub interrupted: bool,
}

/// How many asks fit into one call: a call that is larger than the queue could never be taken.
pub fn call_max(queue_max: usize) -> usize {
    CALL_MAX.min(queue_max / 2).max(1)
}

/// When the arena closes.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// After this time, whatever was played in it.
    Time(Duration),
    /// After so many turns of each room, however long they take: the same seed gives the same game.
    Ticks(u64),
    /// When somebody presses Ctrl-C.
    Endless,
}

impl Length {
    fn is_over(self, elapsed: Duration) -> bool {
        matches!(self, Self::Time(time) if elapsed >= time)
    }

    /// Whether the room whose turns these are is in the middle of the game, or past it.
    fn is_half_over(self, elapsed: Duration, turns: u64) -> bool {
        match self {
            Self::Time(time) => elapsed >= time / 2,
            Self::Ticks(ticks) => turns >= ticks / 2,
            Self::Endless => false,
        }
    }
}

/// A payment that the books do not have yet.
struct OnTheWay {
    player: usize,
    paid: Amount,
    payment: PaymentId,
    due: u64,
}

struct Game<'a> {
    teller: &'a Teller,
    street: &'a Street,
    call_max: usize,
    length: Length,
    begun: Instant,
    tally: Mutex<Tally>,
    over: AtomicBool,
}

/// Whom a game has around it.
pub struct Around<'a> {
    pub teller: &'a Teller,
    pub outside: &'a Outside,
}

impl Around<'_> {
    /// What nodes and flows have said since this was last asked.
    pub fn notes(&self) -> Vec<String> {
        self.teller.notes().into_iter().chain(self.outside.notes()).collect()
    }
}

/// Plays until the game is over, somebody presses Ctrl-C, or something is wrong.
pub fn run(
    around: &Around<'_>,
    rooms: Vec<Room>,
    call_max: usize,
    length: Length,
    interrupt: &Interrupt,
    view: &mut View,
) -> anyhow::Result<Played> {
    let (begun, teller, street) = (Instant::now(), around.teller, &around.outside.street);
    let game = Game { teller, street, call_max, length, begun, tally: Mutex::default(), over: AtomicBool::new(false) };
    let ended = thread::scope(|scope| {
        let threads: Vec<_> = rooms.into_iter().map(|room| scope.spawn(|| game.play(room))).collect();
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(VIEW_PAUSE);
            view.show(around, &game.tally().clone(), begun.elapsed());
            if interrupt.is_asked() || length.is_over(begun.elapsed()) {
                game.over.store(true, Ordering::Relaxed);
            }
        }
        threads
            .into_iter()
            .try_for_each(|room| room.join().map_err(|_| anyhow!("a room panicked; its message is above"))?)
    });
    ended.map_err(|error| teller.explain(error))?;
    let interrupted = interrupt.is_asked();
    interrupt.no_longer();
    let tally = game.tally().clone();
    Ok(Played { tally, took: begun.elapsed(), interrupted })
}

impl Game<'_> {
    /// Plays one room. If that fails or panics, the game is over for all: the others would play for nothing.
    fn play(&self, room: Room) -> anyhow::Result<()> {
        let ends_all = EndsAll(&self.over);
        self.play_to_the_end(room)?;
        std::mem::forget(ends_all);
        Ok(())
    }

    /// Turn after turn until the game is over; then the arena closes.
    fn play_to_the_end(&self, mut room: Room) -> anyhow::Result<()> {
        let is_last = |room: &Room| matches!(self.length, Length::Ticks(ticks) if room.turns() >= ticks);
        let mut on_their_way = Vec::new();
        while !self.over.load(Ordering::Relaxed) && !is_last(&room) {
            if room.number == 0 && self.length.is_half_over(self.begun.elapsed(), room.turns()) {
                self.teller.half_time()?;
            }
            self.let_in(&mut room, &mut on_their_way)?;
            let Turn { asked, payments } = room.turn(self.call_max);
            for (player, paid) in payments {
                let payment = self.street.pay(room.wallet(player), paid);
                on_their_way.push(OnTheWay { player, paid, payment, due: room.turns() + DUE_AFTER });
            }
            if asked.is_empty() && !on_their_way.is_empty() && !matches!(self.length, Length::Ticks(_)) {
                thread::sleep(IDLE_PAUSE);
            }
            self.call(&mut room, &asked)?;
        }
        for paid in &on_their_way {
            self.street.wait(paid.payment)?;
            room.credited(paid.player, paid.paid, &mut self.tally());
        }
        loop {
            let asked = room.close(self.call_max);
            if asked.is_empty() {
                return Ok(());
            }
            self.call(&mut room, &asked)?;
        }
    }

    /// Lets those in whose payments are credited. In a game of so many turns, that is so many turns after they paid, however
    /// long that takes: the same game each time.
    fn let_in(&self, room: &mut Room, on_their_way: &mut Vec<OnTheWay>) -> anyhow::Result<()> {
        let is_counted = matches!(self.length, Length::Ticks(_));
        let mut still = Vec::new();
        for paid in on_their_way.drain(..) {
            let comes = if is_counted { paid.due <= room.turns() } else { self.street.is_credited(paid.payment) };
            if !comes {
                still.push(paid);
                continue;
            }
            self.street.wait(paid.payment)?;
            room.credited(paid.player, paid.paid, &mut self.tally());
        }
        *on_their_way = still;
        Ok(())
    }

    fn call(&self, room: &mut Room, asked: &[Asked]) -> anyhow::Result<()> {
        if asked.is_empty() {
            return Ok(());
        }
        let heard = self.teller.ask(room, asked, || self.tally().busy += 1)?;
        let mut tally = self.tally();
        for (asked, heard) in asked.iter().zip(heard) {
            room.hear(asked, heard, &mut tally)?;
        }
        tally.crowds.insert(room.number, room.crowd());
        Ok(())
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the game for all rooms when it is dropped.
struct EndsAll<'a>(&'a AtomicBool);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
