//! Terms: what a record can be found by.
//!
//! Accounts and holds are their numbers; texts are hashed to 127 bits, so that every term costs the same and an
//! attacker cannot aim at one place. Records distinguish two texts that share a hash. Balance and held amount of an
//! account are two terms, so that the last record that changed either is one lookup away.

use bankroll_ledger::{AccountId, Action, HoldChange, HoldId, Leg, Principal, Record, References, Request, Verdict};
use sha2::{Digest, Sha256};

/// A number that a record is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term(pub u128);

/// What a text is the name of. The index stores these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Deposit = 1,
    Intent = 2,
    Transaction = 3,
    Hand = 4,
    Block = 5,
    /// Whose account was opened.
    Owner = 6,
    /// The player who made the request.
    Requester = 7,
}

/// The kind of numbers that stand for unlisted keys.
const UNLISTED_KEY: u128 = 5;
/// The kind of numbers of accounts, for the record that opened each.
const OPENED: u128 = 6;
/// Set in the terms of texts, clear in those of numbers.
const TEXT_BIT: u128 = 1 << 127;

impl Term {
    /// Records that moved money into or out of an account.
    pub fn posted(account: AccountId) -> Self {
        Self::numbered(1, account.0)
    }

    /// Records that changed what is held in an account.
    pub fn held_in(account: AccountId) -> Self {
        Self::numbered(2, account.0)
    }

    /// Requests that named an account and were rejected.
    pub fn refused_at(account: AccountId) -> Self {
        Self::numbered(3, account.0)
    }

    /// Records that made or changed a hold.
    pub fn hold(hold: HoldId) -> Self {
        Self::numbered(4, hold.0)
    }

    /// Requests with this key of a server that had no account when the index was made. The only term that depends on
    /// more than the record, so it has a kind of its own.
    pub fn unlisted_key(text: &str) -> Self {
        let digest: [u8; 32] =
            Sha256::new().chain_update(b"bankroll stray key 1\0").chain_update(text).finalize().into();
        let (head, _) = digest.split_first_chunk::<8>().expect("a digest has thirty-two bytes");
        Self::numbered(UNLISTED_KEY, u64::from_be_bytes(*head))
    }

    /// The record that opened an account.
    pub fn opened(account: AccountId) -> Self {
        Self::numbered(OPENED, account.0)
    }

    pub fn is_unlisted_key(self) -> bool {
        self.0 >> 64 == UNLISTED_KEY
    }

    fn numbered(sort: u128, number: u64) -> Self {
        Self(sort << 64 | u128::from(number))
    }

    pub fn text(kind: TextKind, text: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"bankroll term 1\0");
        hash.update([kind as u8]);
        match kind {
            // Hashes of chains are not case-sensitive.
            TextKind::Transaction | TextKind::Block => hash.update(text.to_ascii_lowercase()),
            _ => hash.update(text),
        }
        let digest: [u8; 32] = hash.finalize().into();
        let (head, _) = digest.split_first_chunk::<16>().expect("a digest has thirty-two bytes");
        Self(u128::from_be_bytes(*head) | TEXT_BIT)
    }
}

/// The terms of a record, each once, in order.
pub(crate) fn terms_of(record: &Record, into: &mut Vec<u128>) {
    into.clear();
    let mut add = |term: Term| into.push(term.0);
    match record {
        Record::AssetListed { .. } | Record::LossAccepted(_) => {}
        Record::AccountOpened { id, name, .. } => {
            add(Term::opened(*id));
            if let Some(owner) = &name.owner {
                add(Term::text(TextKind::Owner, owner.as_str()));
            }
        }
        Record::Decided { request, verdict } => {
            add_request(request, &mut add);
            match verdict {
                Verdict::Applied(effects) => {
                    for posting in &effects.postings {
                        add(Term::posted(posting.from));
                        add(Term::posted(posting.to));
                    }
                    effects.holds.iter().for_each(|change| add_hold(change, &mut add));
                }
                Verdict::Rejected(_) => add_named(&request.action, &mut add),
            }
        }
        Record::HoldExpired(change) => add_hold(change, &mut add),
    }
    into.sort_unstable();
    into.dedup();
}

fn add_hold(change: &HoldChange, add: &mut impl FnMut(Term)) {
    add(Term::held_in(change.hold.account));
    add(Term::hold(change.hold.id));
}

fn add_request(request: &Request, add: &mut impl FnMut(Term)) {
    let References { deposit, intent, tx_hash, hand, block } = &request.references;
    let texts = [
        (TextKind::Deposit, deposit.as_ref()),
        (TextKind::Intent, intent.as_ref()),
        (TextKind::Transaction, tx_hash.as_ref()),
        (TextKind::Hand, hand.as_ref()),
        (TextKind::Block, block.as_ref().map(|block| &block.hash)),
    ];
    for (kind, text) in texts {
        if let Some(text) = text {
            add(Term::text(kind, text));
        }
    }
    if let Principal::User(wallet) = &request.principal {
        add(Term::text(TextKind::Requester, wallet.as_str()));
    }
}

/// The accounts that a rejected request named directly, not those behind the holds it named.
fn add_named(action: &Action, add: &mut impl FnMut(Term)) {
    let Action::Legs(legs) = action else { return };
    for leg in legs {
        match leg {
            Leg::Move { from, to, .. } => {
                add(Term::refused_at(*from));
                add(Term::refused_at(*to));
            }
            Leg::Hold { account, .. } => add(Term::refused_at(*account)),
            Leg::Post { to, .. } => add(Term::refused_at(*to)),
            Leg::Release { .. } => {}
        }
    }
}
