//! Records of the journal as text and as JSON. This module formats records; others find them.

mod direction;
mod json;
mod text;

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

use bankroll_ledger::{AccountId, AccountName, Amount, AssetId, Namespace, Posting, Principal};
use bankroll_store::Reader;
use bankroll_terminal::{Assets, Width, base_units};

pub use direction::{MoneyDirection, ReadablePosting};
pub use json::{entry_json, key_json, loss_json, proven_json, references_json};
pub use text::{entry_text, plain, references_text};

/// Maximum number of cached names; when it is reached, the cache is emptied.
const NAMES_MAX: usize = 100_000;

/// What formatting a record needs: the names of accounts, and the decimals of assets.
pub struct DisplayContext<'a> {
    reader: Option<&'a Reader>,
    pub width: Width,
    pub assets: Assets,
    names: RefCell<HashMap<AccountId, Option<AccountName>>>,
}

impl<'a> DisplayContext<'a> {
    pub fn new(reader: &'a Reader) -> anyhow::Result<Self> {
        let width = Width::Wide;
        Ok(Self { reader: Some(reader), width, assets: Assets::new(reader.assets()?), names: RefCell::default() })
    }

    /// Without books: accounts are their numbers, amounts are in base units.
    pub fn without_books() -> Self {
        Self { reader: None, width: Width::Short, assets: Assets::none(), names: RefCell::default() }
    }

    /// Without books, and with these names: amounts are in base units.
    pub fn with_names(names: &BTreeMap<AccountId, AccountName>) -> Self {
        let names = names.iter().map(|(id, name)| (*id, Some(name.clone()))).collect();
        Self { names: RefCell::new(names), ..Self::without_books() }
    }

    /// For text of this width.
    pub fn with_width(self, width: Width) -> Self {
        Self { width, ..self }
    }

    pub fn name_of(&self, id: AccountId) -> Option<AccountName> {
        let mut names = self.names.borrow_mut();
        let Some(reader) = self.reader else { return names.get(&id).cloned().flatten() };
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        // An account whose name cannot be read is shown by its number.
        names.entry(id).or_insert_with(|| reader.account(id).ok().flatten().map(|account| account.name)).clone()
    }

    /// The account's name, or its number.
    pub fn account(&self, id: AccountId) -> String {
        self.name_of(id).map_or_else(|| format!("account {id}"), |name| name.to_string())
    }

    /// The account's name as the width has it, or its number.
    pub fn account_text(&self, id: AccountId) -> String {
        self.width.fit_to(&self.account(id), 31)
    }

    /// The posting as people read it; `None` if the accounts' kinds are not known here.
    pub fn readable(&self, posting: &Posting) -> Option<ReadablePosting> {
        let kind = |id| self.name_of(id).map(|name| (id, name.kind));
        Some(ReadablePosting::new(kind(posting.from)?, kind(posting.to)?))
    }

    /// The asset, if its decimals are known here.
    pub fn asset_of(&self, id: AccountId) -> Option<AssetId> {
        self.name_of(id).map(|name| name.asset).filter(|asset| self.assets.get(*asset).is_some())
    }

    /// An amount of the account's asset with all its decimals: `1.5 ETH`; if the text is wide, in base units too.
    pub fn amount(&self, id: AccountId, amount: Amount) -> String {
        match self.asset_of(id) {
            Some(asset) if self.width.is_wide() => format!("{} ({amount})", self.assets.with_symbol(asset, amount)),
            Some(asset) => self.assets.with_symbol(asset, amount),
            None => base_units(amount),
        }
    }
}

/// The namespace as the journal's JSON has it.
pub const fn namespace_word(namespace: Namespace) -> &'static str {
    match namespace {
        Namespace::Client => "client",
        Namespace::Deposits => "deposits",
        Namespace::Payouts => "payouts",
        Namespace::Tables => "tables",
        Namespace::Hot => "hot",
        Namespace::System => "system",
        Namespace::Player => "player",
        Namespace::Registry => "registry",
    }
}

/// A namespace on the command line.
pub fn parse_namespace(text: &str) -> Result<Namespace, String> {
    let known = Namespace::ALL.into_iter().find(|namespace| namespace_word(*namespace) == text);
    known.ok_or_else(|| format!("the namespaces are {}", Namespace::ALL.map(namespace_word).join(", ")))
}

/// The principal as a word, with its name if it has one.
pub fn principal_words(principal: &Principal) -> String {
    match principal {
        Principal::Indexer => "indexer".into(),
        Principal::Admin(person) => format!("admin {person}"),
        Principal::Developer(server) => format!("developer {server}"),
        Principal::GameServer(server) => format!("game_server {server}"),
        Principal::User(wallet) => format!("user {wallet}"),
        Principal::Tables => "tables".into(),
        Principal::System => "system".into(),
    }
}
