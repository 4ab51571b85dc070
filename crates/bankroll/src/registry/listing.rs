//! Entries of the registry as a table.

use bankroll_terminal::table;
use serde_json::Value;

use crate::funds_call::text;

/// The kinds of entries that an owner registers.
#[derive(Clone, Copy, Debug)]
pub enum EntryKind {
    Chains,
    Assets,
    Wallets,
    CustodyKeys,
    ServerKeys,
    Treasury,
}

impl EntryKind {
    pub fn path(self) -> String {
        let name = match self {
            Self::Chains => "chains",
            Self::Assets => "assets",
            Self::Wallets => "wallets",
            Self::CustodyKeys => "custody-keys",
            Self::ServerKeys => "server-keys",
            Self::Treasury => "treasury",
        };
        format!("/v1/registry/{name}")
    }

    /// Titles, and the fields under them.
    const fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Chains => &[("CHAIN", "name"), ("LABEL", "label")],
            Self::Assets => &[
                ("ASSET", "asset"),
                ("CHAIN", "chain"),
                ("SYMBOL", "symbol"),
                ("DECIMALS", "decimals"),
                ("UNIT", "unit"),
            ],
            Self::Wallets => &[("WALLET", "name"), ("CHAIN", "chain"), ("ROLE", "role"), ("ADDRESS", "address")],
            Self::CustodyKeys => &[("KEY", "id"), ("FIRST ADDRESS", "address"), ("XPUB", "xpub")],
            Self::ServerKeys => &[("KEY", "address"), ("SERVER", "server"), ("CHAIN", "chain"), ("STATUS", "status")],
            Self::Treasury => &[("ADDRESS", "address"), ("CHAIN", "chain"), ("LABEL", "label"), ("STATUS", "status")],
        }
    }

    pub fn table(self, entries: &[Value]) -> String {
        if entries.is_empty() {
            return "none is registered\n".into();
        }
        let titles: Vec<&str> = self.columns().iter().map(|(title, _)| *title).collect();
        let mut rows = table(&titles, &[]);
        for entry in entries {
            rows.add_row(self.columns().iter().map(|(_, field)| cell(entry, field)));
        }
        rows.trim_fmt()
    }
}

fn cell(entry: &Value, field: &str) -> String {
    match (field, &entry[field]) {
        ("status", _) if !entry["revoked_at"].is_null() => "revoked".into(),
        ("status", _) if !entry["removed_at"].is_null() => "removed".into(),
        ("status", _) if entry["valid_until"].is_null() => "valid".into(),
        ("status", _) => format!("until {}", text(&entry["valid_until"])),
        // `--json` has all of it.
        ("xpub", Value::String(xpub)) => xpub.chars().take(12).chain(['…']).collect(),
        ("unit", Value::Object(unit)) => unit.values().next().map_or_else(String::new, text),
        ("unit", _) => "coin".into(),
        (_, value) => text(value),
    }
}
