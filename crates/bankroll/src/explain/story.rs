//! The story of a wallet: deposits, play, payouts, in the order of time, and what it has at the end.

use std::collections::BTreeMap;

use bankroll_deposits::view::DepositView;
use bankroll_ledger::{
    Account, AccountKind, AccountName, Action, Amount, Effects, HoldState, Leg, Name, Record, Request, Time, Verdict,
};
use bankroll_store::JournalEntry;
use bankroll_terminal::{Paint, Width, counted, when};
use bankroll_withdrawals::views::PayoutView;

use super::play::{Play, Stakes};
use crate::{
    deposits::{self, coins},
    journal::{DisplayContext, plain},
    withdrawals,
};

/// Moves in a row that are listed one by one; a longer stretch is summed up.
const PLAYS_LISTED: usize = 6;
/// Lines of a story; of a longer one the middle is left out.
const LINES_MAX: usize = 60;
const FIRST_LINES: usize = 10;
/// The columns of a line after its time: the whole fits 80.
const TEXT_WIDTH: usize = 57;

/// What the story is made of.
pub struct WalletStory<'a> {
    pub wallet: &'a Name,
    /// In the order of the journal.
    pub entries: &'a [JournalEntry],
    /// Whether these are all.
    pub is_complete: bool,
    pub deposits: &'a [DepositView],
    pub payouts: &'a [PayoutView],
    pub accounts: &'a [Account],
}

enum StoryEvent {
    Line(Time, String),
    Played(Play),
}

impl StoryEvent {
    const fn at(&self) -> Time {
        match self {
            Self::Line(at, _) => *at,
            Self::Played(play) => play.at,
        }
    }
}

impl WalletStory<'_> {
    pub fn text(&self, display: &DisplayContext<'_>, paint: Paint) -> String {
        let mut events = self.events(display);
        events.sort_by_key(StoryEvent::at);
        let lines = lines(&events, display);
        let mut text = format!("{}\n", paint.strong(&format!("wallet {}", self.wallet)));
        if !self.is_complete {
            text.push_str(&paint.quiet("older records are left out: `bankroll search --wallet` pages through all\n"));
        }
        let left_out = lines.len().saturating_sub(LINES_MAX);
        for (place, (at, line)) in lines.iter().enumerate() {
            if left_out > 0 && place == FIRST_LINES {
                let more = counted(left_out as u64, "line is", "lines are");
                text.push_str(&paint.quiet(&format!("  ... {more} left out here: --all lists every record\n")));
            }
            if left_out == 0 || place < FIRST_LINES || place >= FIRST_LINES + left_out {
                // A line of a summary has no time of its own.
                let at = when::seconds(*at);
                let at = if line.starts_with(' ') { " ".repeat(at.len()) } else { at };
                text.push_str(&wrapped(&at, line, display.width, paint));
            }
        }
        text.push_str(&self.balances(display, paint));
        text
    }

    fn is_own(&self, name: &AccountName) -> bool {
        name.owner.as_ref() == Some(self.wallet)
    }

    fn events(&self, display: &DisplayContext<'_>) -> Vec<StoryEvent> {
        let mut shares: BTreeMap<&str, String> = BTreeMap::new();
        let mut events = Vec::new();
        for entry in self.entries {
            match &entry.record {
                Record::Decided { request, verdict: Verdict::Applied(effects) } => {
                    let deposit = request.references.deposit.as_deref();
                    match deposit.filter(|id| self.deposits.iter().any(|deposit| deposit.id.as_str() == *id)) {
                        Some(id) if effects.reverses.is_none() => {
                            shares.insert(id, self.shares(effects, display));
                        }
                        _ => self.applied(&mut events, entry, request, effects, display),
                    }
                }
                Record::Decided { request, verdict: Verdict::Rejected(rejection) } => {
                    let text = format!("refused: {rejection} (request {})", plain(&request.key.text));
                    events.push(StoryEvent::Line(entry.at, text));
                }
                Record::HoldExpired(change) => {
                    let text = format!("hold {} expired, and the rest is free again", change.hold.id);
                    events.push(StoryEvent::Line(entry.at, text));
                }
                Record::AssetListed { .. } | Record::AccountOpened { .. } | Record::LossAccepted(_) => {}
            }
        }
        events.extend(self.deposits.iter().map(|deposit| self.deposit(deposit, &shares, display)));
        events.extend(self.payouts.iter().filter_map(|payout| self.others_payout(payout, display)));
        events
    }

    /// Where a deposit went: `0.01 ETH to funds, 0.00035 ETH fees`.
    fn shares(&self, effects: &Effects, display: &DisplayContext<'_>) -> String {
        let (mut own, mut fees): (Vec<String>, Option<Amount>) = (Vec::new(), Some(Amount::ZERO));
        for posting in &effects.postings {
            match display.name_of(posting.to).filter(|name| self.is_own(name)) {
                Some(name) => own.push(format!("{} to {}", display.amount(posting.to, posting.amount), name.kind)),
                None => fees = fees.and_then(|fees| fees.checked_add(posting.amount)),
            }
        }
        let fees = fees.filter(|fees| !fees.is_zero()).zip(effects.postings.first());
        own.extend(fees.map(|(fees, posting)| format!("{} fees", display.amount(posting.from, fees))));
        own.join(", ")
    }

    fn deposit(
        &self,
        deposit: &DepositView,
        shares: &BTreeMap<&str, String>,
        display: &DisplayContext<'_>,
    ) -> StoryEvent {
        let amount = coins(&deposit.amount, deposit.asset, &display.assets);
        let state = deposits::state_words(deposit);
        let shares = shares.get(deposit.id.as_str()).map_or_else(String::new, |shares| format!(": {shares}"));
        let player = deposit.wallet.as_deref().filter(|player| *player != self.wallet.as_str());
        let player = player.map_or_else(String::new, |player| format!(" for player {player}"));
        StoryEvent::Line(deposit.first_seen_at, format!("paid {amount}{player} ({state}){shares}"))
    }

    /// A record that changed the wallet's money.
    fn applied(
        &self,
        events: &mut Vec<StoryEvent>,
        entry: &JournalEntry,
        request: &Request,
        effects: &Effects,
        display: &DisplayContext<'_>,
    ) {
        let line = |text| StoryEvent::Line(entry.at, text);
        if let Some(reversed) = effects.reverses {
            let taken = effects.postings.iter().filter_map(|posting| {
                let read = display.readable(posting)?;
                let name = [read.first, read.second].into_iter().filter_map(|id| display.name_of(id));
                let name = name.into_iter().find(|name| self.is_own(name))?;
                let amount = display.amount(posting.from, posting.amount);
                Some(if name.kind == AccountKind::Debt {
                    format!("{amount} became debt")
                } else {
                    format!("{amount} from {}", name.kind)
                })
            });
            let taken: Vec<String> = taken.collect();
            events.push(line(format!("record {reversed} was reversed: {}", taken.join(", "))));
            return;
        }
        let intent = request.references.intent.as_deref();
        let payout = intent.and_then(|id| self.payouts.iter().find(|payout| payout.intent.0.as_str() == id));
        // Posting a part of a hold leaves it open for a moment: only a leg says that a hold is new.
        let is_new = |leg: &Leg| matches!(leg, Leg::Hold { .. });
        let makes_hold = matches!(&request.action, Action::Legs(legs) if legs.iter().any(is_new));
        // The settlement of a payout: its state says more than its postings.
        if let (Some(payout), false) = (payout, makes_hold) {
            events.push(line(payout_words(payout, self.wallet, display)));
            return;
        }
        for posting in &effects.postings {
            let Some(read) = display.readable(posting) else { continue };
            let (Some(first), Some(second)) = (display.name_of(read.first), display.name_of(read.second)) else {
                continue;
            };
            let is_own = |name: &AccountName| self.is_own(name);
            let play = Play::new(entry.at, posting.amount, read.direction, (&first, &second), is_own);
            events.extend(play.map(StoryEvent::Played));
        }
        for change in effects.holds.iter().filter(|change| change.hold.state == HoldState::Open) {
            let coins = |amount| display.amount(change.hold.account, amount);
            events.push(line(match (payout, intent) {
                (Some(PayoutView { intent, amount, fee_cap: Some(cap), .. }), _) => {
                    format!("asked for a payout of {}: {intent}; at most {} for gas", coins(*amount), coins(*cap))
                }
                (Some(PayoutView { intent, amount, fee_cap: None, .. }), _) => {
                    format!("asked for a payout of {}: {intent}", coins(*amount))
                }
                (None, Some(id)) => {
                    format!("asked for a payout of {}: {}", coins(change.hold.remaining), plain(id))
                }
                (None, None) => format!("{} held (hold {})", coins(change.hold.remaining), change.hold.id),
            }));
        }
    }

    /// A payout that was paid to this wallet for another player: the wallet's own records do not have it.
    fn others_payout(&self, payout: &PayoutView, display: &DisplayContext<'_>) -> Option<StoryEvent> {
        if payout.wallet == self.wallet.as_str() || !payout.status.is_final() {
            return None;
        }
        let at = payout.job.as_ref()?.updated_at;
        Some(StoryEvent::Line(at, payout_words(payout, self.wallet, display)))
    }

    fn balances(&self, display: &DisplayContext<'_>, paint: Paint) -> String {
        let shown = |account: &&Account| account.name.kind != AccountKind::Debt || !account.balance.is_zero();
        let mut text = format!("{}\n", paint.strong("now"));
        for account in self.accounts.iter().filter(shown) {
            let name = &account.name;
            let balance = display.assets.with_symbol(name.asset, account.balance);
            let held = display.assets.with_symbol(name.asset, account.held);
            let held = if account.held.is_zero() { String::new() } else { format!(", of it {held} held") };
            text.push_str(&format!(
                "  {:<19}  {balance}{held}\n",
                format!("{}/{}/{}", name.scope, name.kind, name.asset)
            ));
        }
        if self.accounts.is_empty() {
            text.push_str("  no accounts: this wallet is not a player\n");
        }
        for payout in self.payouts.iter().filter(|payout| !payout.status.is_final()) {
            let words = display.width.fit(&payout_words(payout, self.wallet, display));
            for (place, row) in wrap(&words, if display.width.is_wide() { usize::MAX } else { 76 }).iter().enumerate() {
                text.push_str(&format!("  {}{row}\n", if place == 0 { "" } else { "  " }));
            }
        }
        text
    }
}

/// A payout and its state: `payout wd-2f6e... paid as 0x12ab…89ef (nonce 3, block 40), final`.
fn payout_words(payout: &PayoutView, wallet: &Name, display: &DisplayContext<'_>) -> String {
    let amount = display.assets.with_symbol(payout.asset, payout.amount);
    let is_players = payout.wallet == wallet.as_str();
    let whose = if is_players { String::new() } else { format!(" of {amount} for player {}", payout.wallet) };
    format!("payout {}{whose} {}", payout.intent, withdrawals::state_words(payout, display.width))
}

/// The lines of the story, with long stretches of play summed up.
fn lines(events: &[StoryEvent], display: &DisplayContext<'_>) -> Vec<(Time, String)> {
    let (mut lines, mut stakes, mut place) = (Vec::new(), Stakes::default(), 0);
    while let Some(event) = events.get(place) {
        let StoryEvent::Played(first) = event else {
            if let StoryEvent::Line(at, text) = event {
                lines.push((*at, text.clone()));
            }
            place += 1;
            continue;
        };
        let stretch = events[place..].iter().map_while(|event| match event {
            StoryEvent::Played(play) => Some(play.clone()),
            StoryEvent::Line(..) => None,
        });
        let stretch: Vec<Play> = stretch.collect();
        place += stretch.len();
        if stretch.len() > PLAYS_LISTED {
            lines.extend(stakes.summary(&stretch, &display.assets).into_iter().map(|line| (first.at, line)));
        } else {
            lines.extend(stretch.iter().map(|play| (play.at, stakes.words(play, &display.assets))));
        }
    }
    lines
}

/// A line after its time; what does not fit goes on below, indented.
fn wrapped(at: &str, line: &str, width: Width, paint: Paint) -> String {
    let line = width.fit(line);
    if width.is_wide() {
        return format!("{}  {line}\n", paint.quiet(at));
    }
    let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
    let blank = " ".repeat(at.chars().count());
    let mut text = String::new();
    for (place, row) in wrap(&line, TEXT_WIDTH).iter().enumerate() {
        let before = if place == 0 { paint.quiet(at) } else { format!("{blank}  ") };
        text.push_str(&format!("{before}  {indent}{row}\n"));
    }
    text
}

/// The words of a line in rows of at most this many columns; a longer word has a row of its own.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let (mut rows, mut row): (Vec<String>, String) = (Vec::new(), String::new());
    for word in line.split_whitespace() {
        if !row.is_empty() && row.chars().count() + 1 + word.chars().count() > columns {
            rows.push(std::mem::take(&mut row));
        }
        let space = if row.is_empty() { "" } else { " " };
        row.push_str(&format!("{space}{word}"));
    }
    rows.push(row);
    rows
}
