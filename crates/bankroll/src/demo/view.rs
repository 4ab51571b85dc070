//! What people see while the game runs: a few live lines on a terminal, plain lines otherwise. On standard error.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, Amount};
use bankroll_store::Reader;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{DemoArgs, arena::Arena, leftovers::Leftovers, tally::Tally};
use crate::{
    decimal::decimal_cut,
    terminal::{Paint, per_second, thousands},
};

/// How often a plain line is printed.
const LINE_EVERY: Duration = Duration::from_secs(1);
/// Digits behind the point in the view.
const PLACES: usize = 4;

#[derive(Debug)]
pub struct View {
    /// Reads beside the writer, as anybody could.
    pub reader: Reader,
    arena: Arena,
    screen: Screen,
    head: String,
    time: u64,
    /// Transfers a second or so ago, for the rate now.
    earlier: (Instant, u64),
    rate: u64,
}

#[derive(Debug)]
enum Screen {
    Quiet,
    Lines { next: Duration },
    Live { all: MultiProgress, time: ProgressBar, lines: [ProgressBar; 5] },
}

impl View {
    pub fn new(args: &DemoArgs, json: bool, arena: &Arena, reader: Reader) -> Self {
        // Turns are not counted here; a game of so many is shown as one without an end.
        let time = if args.ticks.is_some() { 0 } else { args.seconds };
        let screen = match std::io::stderr().is_terminal() {
            _ if json => Screen::Quiet,
            false => Screen::Lines { next: LINE_EVERY },
            true => live(time),
        };
        let players = thousands(args.players.into());
        let head = match args.postgres {
            None => format!("{players} players in {}", args.dir.display()),
            Some(_) => format!("{players} players; books in a database, each role in a process of its own"),
        };
        Self { reader, arena: arena.clone(), screen, head, time, earlier: (Instant::now(), 0), rate: 0 }
    }

    /// Says what is about to happen, and what an earlier demo had left undone.
    pub fn begin(&mut self, leftovers: &Leftovers) {
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        let paint = Paint::stderr();
        eprintln!("{}  {}", paint.strong("bankroll demo"), self.head);
        if leftovers.payouts > 0 || !leftovers.swept.is_zero() {
            let (payouts, swept) = (thousands(leftovers.payouts), self.money(leftovers.swept));
            eprintln!("an earlier demo was cut short: {payouts} open payouts settled, {swept} swept out of its world");
        }
        self.earlier = (Instant::now(), 0);
    }

    pub fn show(&mut self, tally: &Tally, elapsed: Duration) {
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
                self.screen = Screen::Lines { next: elapsed + LINE_EVERY };
            }
            Screen::Live { time, lines, .. } => {
                time.set_position(elapsed.as_millis().try_into().unwrap_or(u64::MAX));
                let texts = [self.players(tally), self.transfers(tally), self.owned(), self.owed(), refused(tally)];
                for (line, text) in lines.iter().zip(texts) {
                    line.set_message(text);
                }
            }
        }
    }

    /// A line that stays.
    pub fn note(&self, note: &str) {
        match &self.screen {
            Screen::Quiet => {}
            Screen::Lines { .. } => eprintln!("{note}"),
            Screen::Live { all, .. } => {
                // A terminal that went away does not matter any more.
                let _ = all.println(note);
            }
        }
    }

    /// The live lines go: what is worth keeping is in the report.
    pub fn end(self) {
        if let Screen::Live { all, time, lines } = &self.screen {
            lines.iter().chain([time]).for_each(ProgressBar::finish_and_clear);
            // A terminal that went away does not matter any more.
            let _ = all.clear();
        }
    }

    fn line(&self, tally: &Tally, elapsed: Duration) -> String {
        let of = if self.time > 0 { format!(" of {}", self.time) } else { String::new() };
        format!(
            "{:>3}{of} s  {} in the world  {} transfers  {}/s  world {}  refused {}",
            elapsed.as_secs(),
            thousands(tally.in_world()),
            thousands(tally.transfers),
            thousands(self.rate),
            self.money(self.balance(self.arena.world)),
            thousands(tally.rejections()),
        )
    }

    fn players(&self, tally: &Tally) -> String {
        format!(
            "{} in the world, {} have come, {} payouts",
            thousands(tally.in_world()),
            thousands(tally.players()),
            thousands(tally.payouts)
        )
    }

    fn transfers(&self, tally: &Tally) -> String {
        let [transfers, rate, replayed] = [tally.transfers, self.rate, tally.replayed].map(thousands);
        format!("{transfers} on disk, {rate} a second, {replayed} replayed")
    }

    fn owned(&self) -> String {
        format!("{} in custody", self.money(self.balance(self.arena.custody)))
    }

    /// Read one after the other while the writer goes on: what is left for the players is about right.
    fn owed(&self) -> String {
        let custody = self.balance(self.arena.custody);
        let [world, ecosystem, developer] =
            [self.arena.world, self.arena.ecosystem, self.arena.developer].map(|account| self.balance(account));
        let parts = [world, ecosystem, developer];
        let rest = parts.into_iter().try_fold(custody, Amount::checked_sub).unwrap_or(Amount::ZERO);
        let [world, ecosystem, developer, rest] = [world, ecosystem, developer, rest].map(|amount| self.digits(amount));
        format!("world {world}  ecosystem {ecosystem}  developer {developer}  players {rest}")
    }

    fn balance(&self, account: AccountId) -> Amount {
        // A view that cannot read shows nothing rather than stop a game.
        self.reader.account(account).ok().flatten().map_or(Amount::ZERO, |account| account.balance)
    }

    fn money(&self, amount: Amount) -> String {
        format!("{} {}", self.digits(amount), self.arena.symbol)
    }

    fn digits(&self, amount: Amount) -> String {
        decimal_cut(amount, self.arena.decimals, PLACES)
    }
}

fn refused(tally: &Tally) -> String {
    let codes: Vec<String> =
        tally.rejected.iter().map(|(code, count)| format!("{code} {}", thousands(*count))).collect();
    if codes.is_empty() { "nothing yet".into() } else { codes.join("  ") }
}

fn live(seconds: u64) -> Screen {
    let all = MultiProgress::new();
    let style =
        |template: &str| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let time = match seconds {
        0 => ProgressBar::no_length().with_style(style("  play       {elapsed} (Ctrl-C ends it)")),
        _ => ProgressBar::new(seconds * 1_000).with_style(style("  play       {wide_bar:.green} {elapsed}")),
    };
    let time = all.add(time);
    let lines = ["players", "transfers", "we own", "we owe", "refused"]
        .map(|name| all.add(ProgressBar::no_length().with_style(style(&format!("  {name:<10} {{wide_msg}}")))));
    Screen::Live { all, time, lines }
}
