//! The answers in plain vectors, and queries that scan all of them.

use bankroll_ledger::{Action, IdempotencyKey, Leg, Principal, Request};
use bankroll_store::StatementLine;
use bankroll_testkit::{
    model::{Model, ModelPosting, ModelVerdict},
    streams::StreamStep,
};

use super::{hold_of, move_of};

/// One record of the journal, as the answers describe it.
#[derive(Default)]
struct Note {
    seq: u64,
    at: u64,
    key: Option<IdempotencyKey>,
    /// The account that was opened.
    opened: Option<u64>,
    asked_by: Option<String>,
    moved: Vec<ModelPosting>,
    /// Hold, account, held in all afterwards.
    holds: Vec<(u64, u64, u128)>,
    /// Accounts that a rejected request named.
    refused_at: Vec<u64>,
    texts: Vec<String>,
}

#[derive(Default)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// Notes the expected records of a step.
    pub fn take(&mut self, before: &Model, after: &Model, step: &StreamStep) {
        let (mut seq, at) = (self.last_seq(), after.now);
        let mut next = || {
            seq += 1;
            seq
        };
        match step {
            // The streams never list a coin twice.
            StreamStep::List { .. } => self.0.push(Note { seq: next(), at, ..Note::default() }),
            StreamStep::Open { expected, .. } => {
                let known = self.0.iter().filter_map(|note| note.opened).max().unwrap_or(0);
                let mut opened: Vec<u64> = expected.iter().flatten().copied().filter(|id| *id > known).collect();
                opened.dedup();
                self.0.extend(opened.into_iter().map(|id| Note {
                    seq: next(),
                    at,
                    opened: Some(id),
                    ..Note::default()
                }));
            }
            StreamStep::Submit { calls, .. } => {
                for (request, outcome) in calls.iter().flatten().filter(|(_, outcome)| !outcome.replayed) {
                    if let Some(seq) = outcome.seq {
                        self.0.push(Note { seq, at, ..note_of(request, &outcome.verdict) });
                    }
                }
            }
            StreamStep::Clock(_) => {
                let expired = before.money.holds.iter().filter(|(id, _)| !after.money.holds.contains_key(id));
                let mut expired: Vec<_> = expired.collect();
                expired.sort_by_key(|(id, hold)| (hold.expires, **id));
                for (id, hold) in expired {
                    let held = self.balance_at(hold.account, u64::MAX).2 - hold.remaining;
                    self.0.push(Note { seq: next(), at, holds: vec![(*id, hold.account, held)], ..Note::default() });
                }
            }
            StreamStep::Restart => {}
        }
    }

    /// The last noted record.
    pub fn last_seq(&self) -> u64 {
        self.0.last().map_or(0, |note| note.seq)
    }

    pub fn last_time(&self) -> u64 {
        self.0.last().map_or(0, |note| note.at)
    }

    /// The last record that changed an account until a time, its balance and its held amount.
    pub fn balance_at(&self, account: u64, at: u64) -> (Option<u64>, u128, u128) {
        let mut standing = (None, 0, 0);
        for note in self.0.iter().take_while(|note| note.at <= at) {
            for moved in &note.moved {
                if moved.from == account {
                    (standing.0, standing.1) = (Some(note.seq), moved.from_after);
                } else if moved.to == account {
                    (standing.0, standing.1) = (Some(note.seq), moved.to_after);
                }
            }
            for (_, _, held) in note.holds.iter().filter(|(_, of, _)| *of == account) {
                (standing.0, standing.2) = (Some(note.seq), *held);
            }
        }
        standing
    }

    /// Every move and every change of a hold is listed once, in order, with the balances after it.
    pub fn check_statement(&self, account: u64, lines: &[StatementLine], what: &str) {
        let (mut moves, mut holds, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let (mut balance, mut held) = (0, 0);
        for note in &self.0 {
            let touched = (moves.len(), holds.len());
            for moved in &note.moved {
                if moved.from == account {
                    moves.push((note.seq, (moved.to, false, moved.amount, moved.from_after)));
                    balance = moved.from_after;
                } else if moved.to == account {
                    moves.push((note.seq, (moved.from, true, moved.amount, moved.to_after)));
                    balance = moved.to_after;
                }
            }
            for (hold, _, held_after) in note.holds.iter().filter(|(_, of, _)| *of == account) {
                holds.push((note.seq, (*hold, *held_after)));
                held = *held_after;
            }
            if touched != (moves.len(), holds.len()) {
                after.push((note.seq, note.at, balance, held));
            }
        }
        let read_moves: Vec<_> = lines.iter().filter_map(|line| Some((line.seq.0, move_of(line)?))).collect();
        let read_holds: Vec<_> = lines.iter().filter_map(|line| Some((line.seq.0, hold_of(line)?))).collect();
        assert_eq!(read_moves, moves, "{what}: moves of account {account}");
        assert_eq!(read_holds, holds, "{what}: holds of account {account}");
        // After the last line of each record.
        let last = lines
            .iter()
            .enumerate()
            .filter(|(place, line)| lines.get(place + 1).is_none_or(|next| next.seq != line.seq));
        let read: Vec<_> =
            last.map(|(_, line)| (line.seq.0, line.at.0, line.balance.units(), line.held.units())).collect();
        assert_eq!(read, after, "{what}: balances of account {account}");
    }

    /// Everything that touched an account of a wallet, was rejected there, or was requested by it.
    pub fn of_wallet(&self, wallet: &str, model: &Model) -> Vec<u64> {
        let own = |id: &u64| model.accounts.get(id).is_some_and(|account| account.owner.as_deref() == Some(wallet));
        let about = |note: &&Note| {
            note.opened.as_ref().is_some_and(own)
                || note.asked_by.as_deref() == Some(wallet)
                || note.moved.iter().any(|moved| own(&moved.from) || own(&moved.to))
                || note.holds.iter().any(|(_, account, _)| own(account))
                || note.refused_at.iter().any(own)
        };
        self.places(about)
    }

    /// Everything that refers to a text.
    pub fn about(&self, text: &str) -> Vec<u64> {
        self.places(|note| note.texts.iter().any(|known| known.eq_ignore_ascii_case(text)))
    }

    /// Everything that was decided under a key of this text.
    pub fn under(&self, text: &str) -> Vec<u64> {
        self.places(|note| note.key.as_ref().is_some_and(|key| key.text == text))
    }

    fn places(&self, matches: impl Fn(&&Note) -> bool) -> Vec<u64> {
        self.0.iter().filter(matches).map(|note| note.seq).collect()
    }
}

fn note_of(request: &Request, code_of: &ModelVerdict) -> Note {
    let references = &request.references;
    let block = references.block.as_ref().map(|block| block.hash.clone());
    let texts = [&references.deposit, &references.intent, &references.tx_hash, &references.hand, &block];
    let mut note = Note {
        key: Some(request.key.clone()),
        asked_by: if let Principal::User(wallet) = &request.principal { Some(wallet.to_string()) } else { None },
        texts: texts.into_iter().flatten().cloned().collect(),
        ..Note::default()
    };
    match code_of {
        ModelVerdict::Applied(effect) => {
            note.moved.clone_from(&effect.moved);
            note.holds = effect.holds.iter().map(|change| (change.id, change.account, change.held_after)).collect();
        }
        ModelVerdict::Rejected(_) => {
            let legs = if let Action::Legs(legs) = &request.action { legs.as_slice() } else { &[] };
            note.refused_at = legs.iter().flat_map(named).collect();
        }
    }
    note
}

fn named(leg: &Leg) -> Vec<u64> {
    match leg {
        Leg::Move { from, to, .. } => vec![from.0, to.0],
        Leg::Hold { account, .. } => vec![account.0],
        Leg::Post { to, .. } => vec![to.0],
        Leg::Release { .. } => Vec::new(),
    }
}
