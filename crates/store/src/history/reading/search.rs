//! Searching: the records that are about a key, a wallet or a reference.

use bankroll_ledger::{AccountId, Name, Principal, Record, References, Request, Seq, Verdict};

use super::{Cursor, HistoryView, JournalEntry, KeyQuery, PAGE_MAX, Page};
use crate::{
    Reader, StoreError,
    history::index::{Term, TextKind},
};

/// Accounts of one wallet that are looked at.
const ACCOUNTS_MAX: usize = 4_096;

/// What to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchSubject {
    /// An idempotency key.
    Key(KeyQuery),
    /// A player or wallet: moves and holds in its accounts, rejections that name them, and its own requests.
    Wallet(Name),
    /// A transaction on chain.
    Transaction(String),
    /// A deposit.
    Deposit(String),
    /// A payout intent.
    Intent(String),
    /// A hand.
    Hand(String),
    /// A block, by its hash.
    Block(String),
    /// A reference of any of these kinds.
    Reference(String),
}

/// A search, a page at a time.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub subject: SearchSubject,
    /// Newest first.
    pub descending: bool,
    /// Continue after this cursor.
    pub after: Option<Cursor>,
    /// The size of the page; never more than [`PAGE_MAX`].
    pub most: usize,
}

impl SearchQuery {
    /// The first page, oldest first.
    #[must_use]
    pub fn of(subject: SearchSubject) -> Self {
        Self { subject, descending: false, after: None, most: PAGE_MAX }
    }

    pub(super) fn query_text(&self) -> String {
        format!("search {:?} {}", self.subject, self.descending)
    }
}

impl Reader {
    /// A page of the records that are about something, in the order of the journal.
    ///
    /// # Errors
    /// If the books cannot be read, or the cursor belongs to another query.
    pub fn search(&self, query: &SearchQuery) -> Result<Page<JournalEntry>, StoreError> {
        let after = query.after.as_ref().map(|cursor| cursor.read(&query.query_text())).transpose()?;
        self.in_view(|view| {
            let most = query.most.clamp(1, PAGE_MAX);
            let mut range = 1..=view.head.seq.0;
            match after {
                Some((seq, _)) if query.descending => range = 1..=seq.0.saturating_sub(1),
                Some((seq, _)) => range = seq.0.saturating_add(1)..=view.head.seq.0,
                None => {}
            }
            let mut items = Vec::new();
            // Two texts may share a term: wrong matches are skipped, and further places are read instead.
            while items.len() <= most && !range.is_empty() {
                let wanted = most + 1 - items.len();
                let places = view.places_about(&query.subject, range.clone(), query.descending, wanted)?;
                let Some(last) = places.last().copied() else { break };
                for place in &places {
                    let entry = view.entry(*place)?;
                    items.extend(query.subject.is_about(&entry.record).then_some(entry));
                }
                if places.len() < wanted {
                    break;
                }
                range = if query.descending {
                    1..=last.0.saturating_sub(1)
                } else {
                    last.0.saturating_add(1)..=*range.end()
                };
            }
            let more = items.len() > most;
            items.truncate(most);
            let next = items.last().filter(|_| more).map(|entry| Cursor::new(&query.query_text(), entry.seq, 0));
            Ok(Page { items, next })
        })
    }
}

impl HistoryView<'_> {
    /// Places that may be about something.
    pub(super) fn places_about(
        &self,
        subject: &SearchSubject,
        range: std::ops::RangeInclusive<u64>,
        descending: bool,
        most: usize,
    ) -> Result<Vec<Seq>, StoreError> {
        if let SearchSubject::Key(query) = subject {
            let mut places = self.places_of_keys(query)?;
            places.retain(|place| range.contains(&place.0));
            if descending {
                places.reverse();
            }
            places.truncate(most);
            return Ok(places);
        }
        self.places(&self.terms_about(subject)?, range, descending, most)
    }

    fn terms_about(&self, subject: &SearchSubject) -> Result<Vec<Term>, StoreError> {
        Ok(match subject {
            SearchSubject::Key(_) => Vec::new(),
            SearchSubject::Wallet(wallet) => {
                let asked = [TextKind::Owner, TextKind::Requester].map(|kind| Term::text(kind, wallet.as_str()));
                let of_account = |id| [Term::posted(id), Term::held_in(id), Term::refused_at(id)];
                asked.into_iter().chain(self.accounts_of(wallet)?.into_iter().flat_map(of_account)).collect()
            }
            SearchSubject::Transaction(text) => vec![Term::text(TextKind::Transaction, text)],
            SearchSubject::Deposit(text) => vec![Term::text(TextKind::Deposit, text)],
            SearchSubject::Intent(text) => vec![Term::text(TextKind::Intent, text)],
            SearchSubject::Hand(text) => vec![Term::text(TextKind::Hand, text)],
            SearchSubject::Block(text) => vec![Term::text(TextKind::Block, text)],
            SearchSubject::Reference(text) => {
                use TextKind::{Block, Deposit, Hand, Intent, Transaction};
                [Deposit, Intent, Transaction, Hand, Block].map(|kind| Term::text(kind, text)).to_vec()
            }
        })
    }

    /// The accounts of a wallet, by the records that opened them.
    fn accounts_of(&self, wallet: &Name) -> Result<Vec<AccountId>, StoreError> {
        let opened = Term::text(TextKind::Owner, wallet.as_str());
        let places = self.places(&[opened], 1..=self.head.seq.0, false, ACCOUNTS_MAX)?;
        let mut accounts = Vec::new();
        for place in places {
            if let Record::AccountOpened { id, name, .. } = self.record(place)?
                && name.owner.as_ref() == Some(wallet)
            {
                accounts.push(id);
            }
        }
        Ok(accounts)
    }
}

impl SearchSubject {
    /// Whether a record that the index names is really about it. Accounts are their numbers and need no confirmation.
    fn is_about(&self, record: &Record) -> bool {
        let request = if let Record::Decided { request, .. } = record { Some(request) } else { None };
        let refers = |text: &str, chosen: fn(&References) -> [Option<&String>; 5]| {
            let same = |found: &String| found.eq_ignore_ascii_case(text);
            request.is_some_and(|request| chosen(&request.references).into_iter().flatten().any(same))
        };
        match self {
            // Confirmed when it was found.
            Self::Key(_) => true,
            Self::Wallet(wallet) => match record {
                Record::AccountOpened { name, .. } => name.owner.as_ref() == Some(wallet),
                Record::Decided { request, verdict } => requested_or_touched(wallet, request, verdict),
                Record::HoldExpired(_) => true,
                Record::AssetListed { .. } | Record::LossAccepted(_) => false,
            },
            Self::Transaction(text) => refers(text, |of| [None, None, of.tx_hash.as_ref(), None, None]),
            Self::Deposit(text) => refers(text, |of| [of.deposit.as_ref(), None, None, None, None]),
            Self::Intent(text) => refers(text, |of| [None, of.intent.as_ref(), None, None, None]),
            Self::Hand(text) => refers(text, |of| [None, None, None, of.hand.as_ref(), None]),
            Self::Block(text) => refers(text, |of| [None, None, None, None, block_hash(of)]),
            Self::Reference(text) => refers(text, |of| {
                [of.deposit.as_ref(), of.intent.as_ref(), of.tx_hash.as_ref(), of.hand.as_ref(), block_hash(of)]
            }),
        }
    }
}

fn block_hash(references: &References) -> Option<&String> {
    references.block.as_ref().map(|block| &block.hash)
}

/// A request without effects is found only by its requester, or by an account that it named.
fn requested_or_touched(wallet: &Name, request: &Request, verdict: &Verdict) -> bool {
    let asked = matches!(&request.principal, Principal::User(asker) if asker == wallet);
    let touched = match verdict {
        Verdict::Applied(effects) => !effects.postings.is_empty() || !effects.holds.is_empty(),
        Verdict::Rejected(_) => true,
    };
    asked || touched
}
