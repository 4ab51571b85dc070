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

use super::{asks::Asked, room::Room, tally::Tally, teller::Teller, view::View};
use crate::interrupt::Interrupt;

/// Asks in one call at the most.
const CALL_MAX: usize = 1_000;
const VIEW_PAUSE: Duration = Duration::from_millis(100);

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

struct Game<'a> {
    teller: &'a Teller,
    call_max: usize,
    length: Length,
    begun: Instant,
    tally: Mutex<Tally>,
    over: AtomicBool,
}

/// Plays until the game is over, somebody presses Ctrl-C, or something is wrong.
pub fn run(
    teller: &Teller,
    rooms: Vec<Room>,
    call_max: usize,
    length: Length,
    interrupt: &Interrupt,
    view: &mut View,
) -> anyhow::Result<Played> {
    let begun = Instant::now();
    let game = Game { teller, call_max, length, begun, tally: Mutex::default(), over: AtomicBool::new(false) };
    let ended = thread::scope(|scope| {
        let threads: Vec<_> = rooms.into_iter().map(|room| scope.spawn(|| game.play(room))).collect();
        while !threads.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(VIEW_PAUSE);
            teller.notes().iter().for_each(|note| view.note(note));
            view.show(&game.tally().clone(), begun.elapsed());
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
        while !self.over.load(Ordering::Relaxed) && !is_last(&room) {
            if room.number == 0 && self.length.is_half_over(self.begun.elapsed(), room.turns()) {
                self.teller.half_time()?;
            }
            let asked = room.turn(self.call_max);
            self.call(&mut room, &asked)?;
        }
        loop {
            let asked = room.close(self.call_max);
            if asked.is_empty() {
                return Ok(());
            }
            self.call(&mut room, &asked)?;
        }
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
