//! What people see while the game runs: a few live lines on a terminal, plain lines otherwise. On standard error.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, Amount};
use bankroll_store::Reader;
use bankroll_terminal::{Paint, decimal_cut, per_second, thousands};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{DemoArgs, arena::Arena, leftovers::Leftovers, play::Around, progress::Progress, tally::Tally};

/// How often a plain line is printed.
const LINE_EVERY: Duration = Duration::from_secs(1);
/// How often deposits and payouts are counted.
const LOOK_EVERY: Duration = Duration::from_millis(400);
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
    /// Where deposits and payouts stood when that was last looked at.
    progress: (Instant, Progress),
}

#[derive(Debug)]
enum Screen {
    Quiet,
    Lines { next: Duration },
    Live { all: MultiProgress, time: ProgressBar, lines: [ProgressBar; 7] },
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
        Self {
            reader,
            arena: arena.clone(),
            screen,
            head,
            time,
            earlier: (Instant::now(), 0),
            rate: 0,
            progress: (Instant::now(), Progress::default()),
        }
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
            eprintln!("an earlier demo was cut short: {payouts} payouts go on, {swept} swept out of its world");
        }
        self.earlier = (Instant::now(), 0);
    }

    pub fn show(&mut self, around: &Around<'_>, tally: &Tally, elapsed: Duration) {
        around.notes().iter().for_each(|note| self.note(note));
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        if self.progress.0.elapsed() >= LOOK_EVERY {
            // A view that cannot read shows what it knew.
            self.progress = (Instant::now(), Progress::read(&self.reader).unwrap_or(self.progress.1));
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
                self.screen = Screen::Lines { next: elapsed + LINE_EVERY };
            }
            Screen::Live { time, lines, .. } => {
                time.set_position(elapsed.as_millis().try_into().unwrap_or(u64::MAX));
                let texts = [
                    self.deposits(),
                    self.players(tally),
                    self.transfers(tally),
                    self.payouts(),
                    self.owned(),
                    self.owed(),
                    refused(tally),
                ];
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
        let Progress { credited, confirming, paid, open, .. } = self.progress.1;
        let [credited, confirming, paid, open] = [credited, confirming, paid, open].map(thousands);
        format!(
            "{:>3}{of} s  {} in the world  {} transfers  {}/s  deposits {credited} credited, {confirming} confirming  payouts {paid} final, {open} on their way",
            elapsed.as_secs(),
            thousands(tally.in_world()),
            thousands(tally.transfers),
            thousands(self.rate),
        )
    }

    fn deposits(&self) -> String {
        let Progress { confirming, credited, .. } = self.progress.1;
        let [seen, confirming, credited] = [self.progress.1.seen(), confirming, credited].map(thousands);
        format!("{seen} seen, {confirming} confirming, {credited} credited")
    }

    fn payouts(&self) -> String {
        let Progress { wanted, signed, sent, mined, paid, .. } = self.progress.1;
        let [wanted, signed, sent, mined, paid] = [wanted, signed, sent, mined, paid].map(thousands);
        format!("{wanted} wanted, {signed} signed, {sent} sent, {mined} in a block, {paid} final")
    }

    fn players(&self, tally: &Tally) -> String {
        format!(
            "{} in the world, {} have come, {} have left",
            thousands(tally.in_world()),
            thousands(tally.players()),
            thousands(tally.exits)
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
        let Arena { custody, network_fees, world, ecosystem, developer, house, .. } = self.arena;
        let owned = self.balance(custody).checked_add(self.balance(network_fees));
        let parts = [world, ecosystem, developer, house].map(|account| self.balance(account));
        let rest = parts.into_iter().try_fold(owned.unwrap_or(Amount::ZERO), Amount::checked_sub);
        let rest = self.digits(rest.unwrap_or(Amount::ZERO));
        let [world, ecosystem, developer, house] = parts.map(|amount| self.digits(amount));
        format!("world {world}  ecosystem {ecosystem}  developer {developer}  house {house}  players {rest}")
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
    let lines = ["deposits", "players", "transfers", "payouts", "we own", "we owe", "refused"]
        .map(|name| all.add(ProgressBar::no_length().with_style(style(&format!("  {name:<10} {{wide_msg}}")))));
    Screen::Live { all, time, lines }
}
