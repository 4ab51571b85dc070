//! The view of a running game, on standard error: a few live lines on a terminal, plain lines otherwise.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, Amount};
use bankroll_store::Reader;
use bankroll_terminal::{Paint, counted, decimal, decimal_cut, per_second, thousands};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{
    DemoArgs,
    arena::Arena,
    context::GameContext,
    leftovers::Leftovers,
    newest_events::{NewestEvents, SHOWN},
    progress::DemoProgress,
    tally::GameTally,
    wrap::wrapped,
};

/// How often a plain line is printed.
const LINE_EVERY: Duration = Duration::from_secs(1);
/// How often deposits and payouts are counted.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// Before each event, where it is not on a terminal.
pub const EVENT: &str = "  event      ";
/// Decimals in the view.
const PLACES: usize = 4;

#[derive(Debug)]
pub struct DemoView {
    pub reader: Reader,
    arena: Arena,
    screen: Screen,
    head: String,
    /// When the rate was last computed, and the transfers at that time.
    earlier: (Instant, u64),
    rate: u64,
    /// When deposits and payouts were last counted, and the result.
    progress: (Instant, DemoProgress),
    /// The same before this run.
    before: DemoProgress,
    events: NewestEvents,
}

#[derive(Debug)]
enum Screen {
    Quiet,
    Lines { next: Duration },
    Live { all: MultiProgress, time: ProgressBar, lines: Vec<ProgressBar> },
}

impl DemoView {
    pub fn new(args: &DemoArgs, json: bool, arena: &Arena, reader: Reader) -> Self {
        // The view does not count turns: a game of counted turns is shown like an endless one.
        let time = if args.ticks.is_some() { 0 } else { args.seconds };
        let screen = match std::io::stderr().is_terminal() {
            _ if json => Screen::Quiet,
            false => Screen::Lines { next: LINE_EVERY },
            true => live(time),
        };
        let players = counted(args.players.into(), "player", "players");
        let head = match args.postgres {
            None => format!("{players} in {}", args.dir.display()),
            Some(_) => format!("{players}; books in a database, each role in its own process"),
        };
        Self {
            reader,
            arena: arena.clone(),
            screen,
            head,
            earlier: (Instant::now(), 0),
            rate: 0,
            progress: (Instant::now(), DemoProgress::default()),
            before: DemoProgress::default(),
            events: NewestEvents::default(),
        }
    }

    /// Prints what starts now, and what an interrupted demo left. From now on counts begin at `before`.
    pub fn begin(&mut self, leftovers: &Leftovers, before: DemoProgress) {
        self.before = before;
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        let paint = Paint::stderr();
        eprintln!("{}  {}", paint.strong("bankroll demo"), self.head);
        let money = |amount| format!("{} {}", decimal(amount, self.arena.decimals), self.arena.symbol);
        leftovers.lines(money).iter().for_each(|line| eprintln!("{}", wrapped(line, "  ")));
        self.earlier = (Instant::now(), 0);
        self.events = NewestEvents::from_now(&self.reader);
    }

    pub fn show(&mut self, context: &GameContext<'_>, tally: &GameTally, elapsed: Duration) {
        context.notes().iter().for_each(|note| self.note(note));
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        if self.progress.0.elapsed() >= LOOK_EVERY {
            // If reading fails, the last counts stay on screen.
            self.progress = (Instant::now(), DemoProgress::read(&self.reader).unwrap_or(self.progress.1));
            self.events.read(&self.reader);
        }
        let since = self.earlier.0.elapsed();
        if since >= LINE_EVERY || self.rate == 0 {
            self.rate = per_second(tally.transfers.saturating_sub(self.earlier.1), since);
        }
        if since >= LINE_EVERY {
            self.earlier = (Instant::now(), tally.transfers);
        }
        match &self.screen {
            Screen::Quiet => {}
            Screen::Lines { next } if elapsed < *next => {}
            Screen::Lines { .. } => {
                eprintln!("{}", self.line(tally, elapsed));
                self.events.take().iter().for_each(|event| eprintln!("{EVENT}{event}"));
                self.screen = Screen::Lines { next: elapsed + LINE_EVERY };
            }
            Screen::Live { time, lines, .. } => {
                time.set_position(elapsed.as_millis().try_into().unwrap_or(u64::MAX));
                let progress = self.progress.1.since(&self.before);
                let [owed, owed_too] = self.owed();
                let texts = [
                    players(tally),
                    deposits(&progress),
                    self.transfers(tally),
                    payouts(&progress),
                    refused(tally),
                    self.owned(),
                    owed,
                    owed_too,
                ];
                for (line, text) in lines.iter().zip(texts.into_iter().chain(self.events.shown())) {
                    line.set_message(text);
                }
            }
        }
    }

    /// Prints a note that stays.
    pub fn note(&self, note: &str) {
        let note = wrapped(note, "  ");
        match &self.screen {
            Screen::Quiet => {}
            Screen::Lines { .. } => eprintln!("{note}"),
            Screen::Live { all, .. } => {
                // A closed terminal does not matter here.
                let _ = all.println(note);
            }
        }
    }

    /// Removes the live lines; the report follows.
    pub fn end(self) {
        self.clear();
    }

    /// The same, while the reader stays open.
    pub fn clear(&self) {
        if let Screen::Live { all, time, lines } = &self.screen {
            lines.iter().chain([time]).for_each(ProgressBar::finish_and_clear);
            // A closed terminal does not matter here.
            let _ = all.clear();
        }
    }

    fn line(&self, tally: &GameTally, elapsed: Duration) -> String {
        line(elapsed, tally, self.rate, &self.progress.1.since(&self.before))
    }

    fn transfers(&self, tally: &GameTally) -> String {
        let [transfers, rate, replayed] = [tally.transfers, self.rate, tally.replayed].map(thousands);
        format!("{transfers} on disk, {rate}/s, {replayed} replayed")
    }

    fn owned(&self) -> String {
        format!("{} in custody", self.money(self.balance(self.arena.custody)))
    }

    /// The balances are read one after another while the writer runs, so the rest, which is the players', is
    /// approximate.
    fn owed(&self) -> [String; 2] {
        let Arena { custody, network_fees, world, ecosystem, developer, house, .. } = self.arena;
        let owned = self.balance(custody).checked_add(self.balance(network_fees));
        let parts = [world, ecosystem, developer, house].map(|account| self.balance(account));
        let rest = parts.into_iter().try_fold(owned.unwrap_or(Amount::ZERO), Amount::checked_sub);
        let rest = self.digits(rest.unwrap_or(Amount::ZERO));
        let [world, ecosystem, developer, house] = parts.map(|amount| self.digits(amount));
        [
            format!("{rest} to players  {world} in the world  {house} to the house"),
            format!("{ecosystem} to the game's budget  {developer} to its developer"),
        ]
    }

    fn balance(&self, account: AccountId) -> Amount {
        // If reading fails, zero is shown: a view must not stop the game.
        self.reader.account(account).ok().flatten().map_or(Amount::ZERO, |account| account.balance)
    }

    fn money(&self, amount: Amount) -> String {
        format!("{} {}", self.digits(amount), self.arena.symbol)
    }

    fn digits(&self, amount: Amount) -> String {
        decimal_cut(amount, self.arena.decimals, PLACES)
    }
}

/// One line of a view that is not on a terminal. All counts are of this run.
fn line(elapsed: Duration, tally: &GameTally, rate: u64, progress: &DemoProgress) -> String {
    let [playing, rate, credited, paid, open] =
        [tally.in_world(), rate, progress.credited, progress.paid, progress.open].map(thousands);
    let seconds = elapsed.as_secs();
    format!("{seconds:>3} s  {playing} playing  {rate} transfers/s  {credited} credited  {paid} paid  {open} in flight")
}

/// Every player who has come is either in the world or outside it.
fn players(tally: &GameTally) -> String {
    let (come, in_world) = (tally.players(), tally.in_world());
    let [come, in_world, outside] = [come, in_world, come.saturating_sub(in_world)].map(thousands);
    format!("{come} have come: {in_world} in the world, {outside} outside")
}

fn deposits(progress: &DemoProgress) -> String {
    let [confirming, credited] = [progress.confirming + progress.due, progress.credited].map(thousands);
    format!("{confirming} confirming, {credited} credited")
}

fn payouts(progress: &DemoProgress) -> String {
    let DemoProgress { wanted, signed, sent, mined, paid, .. } = *progress;
    let [wanted, signed, sent, mined, paid] = [wanted, signed, sent, mined, paid].map(thousands);
    format!("{wanted} requested, {signed} signed, {sent} sent, {mined} in a block, {paid} paid")
}

fn refused(tally: &GameTally) -> String {
    let codes: Vec<String> =
        tally.rejected.iter().map(|(code, count)| format!("{code} {}", thousands(*count))).collect();
    if codes.is_empty() { "nothing yet".into() } else { codes.join("  ") }
}

fn live(seconds: u64) -> Screen {
    let all = MultiProgress::new();
    let style =
        |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let time = match seconds {
        0 => ProgressBar::no_length().with_style(style("  play       {elapsed} (stop with Ctrl-C)")),
        _ => ProgressBar::new(seconds * 1_000).with_style(style("  play       {wide_bar:.green} {elapsed}")),
    };
    let time = all.add(time);
    let names = ["players", "deposits", "transfers", "payouts", "refused", "we own", "we owe", "", "events"];
    let more = std::iter::repeat_n("", SHOWN - 1);
    let line = |name| ProgressBar::no_length().with_style(style(&format!("  {name:<10} {{wide_msg}}")));
    let lines = names.into_iter().chain(more).map(|name| all.add(line(name))).collect();
    Screen::Live { all, time, lines }
}

#[cfg(test)]
mod tests {
    use super::super::{tally::Crowd, wrap::WIDTH};
    use super::*;

    /// Larger counts than a demo of an hour has.
    fn large() -> (GameTally, DemoProgress) {
        let mut tally = GameTally { transfers: 999_999_999, replayed: 9_999_999, ..GameTally::default() };
        tally.crowds.insert(0, Crowd { arrived: 9_999, in_world: 9_990 });
        tally.rejected = [("insufficient_funds", 9_999), ("key_reused", 9_999), ("not_allowed", 9_999)].into();
        let progress = DemoProgress { credited: 9_999, paid: 999, open: 9, ..DemoProgress::default() };
        (tally, progress)
    }

    #[test]
    fn every_line_fits_a_narrow_terminal() {
        let (tally, progress) = large();
        let plain = line(Duration::from_secs(999), &tally, 299_999, &progress);
        assert_eq!(plain, "999 s  9,990 playing  299,999 transfers/s  9,999 credited  999 paid  9 in flight");
        assert!(plain.chars().count() <= WIDTH, "{plain}");
        assert_eq!(players(&tally), "9,999 have come: 9,990 in the world, 9 outside");
        for text in [players(&tally), deposits(&progress), payouts(&progress), refused(&tally)] {
            // A live line begins with its name.
            assert!(13 + text.chars().count() <= WIDTH, "{text}");
        }
    }

    #[test]
    fn counts_are_of_this_run() {
        let before = DemoProgress { credited: 100, paid: 7, ..DemoProgress::default() };
        let now = DemoProgress { credited: 103, paid: 9, confirming: 2, open: 1, ..DemoProgress::default() };
        let run = now.since(&before);
        assert_eq!((run.credited, run.paid, run.confirming, run.open), (3, 2, 2, 1));
    }
}
