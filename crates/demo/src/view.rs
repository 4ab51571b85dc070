//! The view of a running game, on standard error: a few live lines on a terminal, plain lines otherwise.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, Amount};
use bankroll_store::Reader;
use bankroll_terminal::{Paint, counted, decimal_cut, per_second, thousands};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{
    DemoArgs, arena::Arena, context::GameContext, leftovers::Leftovers, progress::DemoProgress, tally::GameTally,
};

/// How often a plain line is printed.
const LINE_EVERY: Duration = Duration::from_secs(1);
/// How often deposits and payouts are counted.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// Decimals in the view.
const PLACES: usize = 4;

#[derive(Debug)]
pub struct DemoView {
    pub reader: Reader,
    arena: Arena,
    screen: Screen,
    head: String,
    time: u64,
    /// When the rate was last computed, and the transfers at that time.
    earlier: (Instant, u64),
    rate: u64,
    /// When deposits and payouts were last counted, and the result.
    progress: (Instant, DemoProgress),
}

#[derive(Debug)]
enum Screen {
    Quiet,
    Lines { next: Duration },
    Live { all: MultiProgress, time: ProgressBar, lines: [ProgressBar; 7] },
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
            time,
            earlier: (Instant::now(), 0),
            rate: 0,
            progress: (Instant::now(), DemoProgress::default()),
        }
    }

    /// Prints what starts now, and what an earlier demo left undone.
    pub fn begin(&mut self, leftovers: &Leftovers) {
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        let paint = Paint::stderr();
        eprintln!("{}  {}", paint.strong("bankroll demo"), self.head);
        if leftovers.payouts > 0 || !leftovers.swept.is_zero() {
            let payouts = counted(leftovers.payouts, "payout continues", "payouts continue");
            let swept = self.money(leftovers.swept);
            eprintln!(
                "an earlier demo was interrupted: {payouts}, {swept} from its world moved to the ecosystem account"
            );
        }
        self.earlier = (Instant::now(), 0);
    }

    pub fn show(&mut self, context: &GameContext<'_>, tally: &GameTally, elapsed: Duration) {
        context.notes().iter().for_each(|note| self.note(note));
        if matches!(self.screen, Screen::Quiet) {
            return;
        }
        if self.progress.0.elapsed() >= LOOK_EVERY {
            // If reading fails, the last counts stay on screen.
            self.progress = (Instant::now(), DemoProgress::read(&self.reader).unwrap_or(self.progress.1));
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

    /// Prints a line that stays.
    pub fn note(&self, note: &str) {
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
        if let Screen::Live { all, time, lines } = &self.screen {
            lines.iter().chain([time]).for_each(ProgressBar::finish_and_clear);
            // A closed terminal does not matter here.
            let _ = all.clear();
        }
    }

    fn line(&self, tally: &GameTally, elapsed: Duration) -> String {
        let of = if self.time > 0 { format!(" of {}", self.time) } else { String::new() };
        let DemoProgress { credited, confirming, paid, open, .. } = self.progress.1;
        let [credited, confirming, paid, open] = [credited, confirming, paid, open].map(thousands);
        format!(
            "{:>3}{of} s  {} in the world  {} transfers  {}/s  deposits {credited} credited, {confirming} confirming  \
             payouts {paid} final, {open} in flight",
            elapsed.as_secs(),
            thousands(tally.in_world()),
            thousands(tally.transfers),
            thousands(self.rate),
        )
    }

    fn deposits(&self) -> String {
        let DemoProgress { confirming, credited, .. } = self.progress.1;
        let [seen, confirming, credited] = [self.progress.1.seen(), confirming, credited].map(thousands);
        format!("{seen} seen, {confirming} confirming, {credited} credited")
    }

    fn payouts(&self) -> String {
        let DemoProgress { wanted, signed, sent, mined, paid, .. } = self.progress.1;
        let [wanted, signed, sent, mined, paid] = [wanted, signed, sent, mined, paid].map(thousands);
        format!("{wanted} requested, {signed} signed, {sent} sent, {mined} in a block, {paid} final")
    }

    fn players(&self, tally: &GameTally) -> String {
        format!(
            "{} in the world now, {} arrived in all, {} exits",
            thousands(tally.in_world()),
            thousands(tally.players()),
            thousands(tally.exits)
        )
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
    let lines = ["deposits", "players", "transfers", "payouts", "we own", "we owe", "refused"]
        .map(|name| all.add(ProgressBar::no_length().with_style(style(&format!("  {name:<10} {{wide_msg}}")))));
    Screen::Live { all, time, lines }
}
