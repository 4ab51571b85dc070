//! Game servers: terms, addresses, pauses, versions.

use bankroll_ledger::{Amount, AssetId, Column, ColumnValue, Fact, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, amount_of, int, maybe, number_of, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, fact, flag, flag_of, maybe_time, new_row, shown, small_of, string_of, time_of};

/// What a game server decides about itself, by its registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTerms {
    /// What a place in its world costs, and what the player gets as mass.
    pub buy_in: Amount,
    /// The developer's fee on top, in basis points.
    pub developer_bps: u32,
    /// The world's fee on top, in basis points.
    pub world_bps: u32,
    /// Mass for one whole coin (the seed's `massPerEth`).
    pub mass_per_coin: Amount,
    pub exit_hold_ms: u64,
    /// The wallet that pays its players: a hot wallet of the registry.
    pub payout_address: Address,
    /// The wallet that owns the developer's fees.
    pub developer: Address,
}

/// What is paused; `deposits.md` says which calls each pause stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pauses {
    pub deposits: bool,
    pub spawns: bool,
    pub withdrawals: bool,
    /// The server is closed: no buy-ins and no spawns; players can leave and be paid.
    pub disabled: bool,
}

/// The seed's single status, derived from the pauses: the one that stops most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStatus {
    Active,
    PausedDeposits,
    PausedSpawns,
    PausedWithdrawals,
    Disabled,
}

/// One version of a server's configuration. The registry has the current one; `server_versions` has all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredServer {
    pub name: Name,
    pub chain: Name,
    pub asset: AssetId,
    pub custody_key: Name,
    /// Where its players pay to.
    pub deposit_address: Address,
    pub terms: ServerTerms,
    pub pauses: Pauses,
    /// Whether each player gets a deposit address. Its coins cannot be spent before they are swept.
    pub player_addresses: bool,
    /// Words for people and programs, as the owner wrote them.
    pub labels: String,
    /// From 1; raised by each change of any value here.
    pub version: u64,
    /// Who made this version: `key:0x...` or `owner:...`.
    pub changed_by: Name,
    pub changed_at: Time,
    pub created_at: Time,
    /// When its deposit address last changed.
    pub rotated_at: Option<Time>,
}

impl Pauses {
    /// Whether a deposit becomes a buy-in; if not, it is credited as unallocated.
    #[must_use]
    pub const fn accepts_deposits(self) -> bool {
        !self.deposits && !self.disabled
    }

    #[must_use]
    pub const fn allows_spawns(self) -> bool {
        !self.spawns && !self.disabled
    }

    /// Whether payouts go out; if not, they wait.
    #[must_use]
    pub const fn allows_payouts(self) -> bool {
        !self.withdrawals
    }
}

impl RegisteredServer {
    #[must_use]
    pub const fn status(&self) -> ServerStatus {
        match self.pauses {
            Pauses { disabled: true, .. } => ServerStatus::Disabled,
            Pauses { withdrawals: true, .. } => ServerStatus::PausedWithdrawals,
            Pauses { spawns: true, .. } => ServerStatus::PausedSpawns,
            Pauses { deposits: true, .. } => ServerStatus::PausedDeposits,
            _ => ServerStatus::Active,
        }
    }

    /// The next version, with its author.
    pub(crate) fn next(&self, by: Name, now: Time) -> Self {
        Self { version: self.version.saturating_add(1), changed_by: by, changed_at: now, ..self.clone() }
    }

    /// The current row, and a row for the version that stays for ever.
    pub(crate) fn facts(&self) -> [Fact; 2] {
        let mut key = self.key();
        key.push(column("version", int(self.version)));
        [fact(self), new_row("server_versions", key, self.columns())]
    }
}

impl Entry for RegisteredServer {
    const TABLE: &'static str = "servers";
    const REVISION: &'static str = "version";

    fn key(&self) -> Vec<Column> {
        vec![column("name", shown(&self.name))]
    }

    fn columns(&self) -> Vec<Column> {
        let amount = |amount: Amount| ColumnValue::Amount(amount);
        vec![
            column("chain", shown(&self.chain)),
            column("asset", int(self.asset.0.into())),
            column("custody_key", shown(&self.custody_key)),
            column("deposit_address", shown(&self.deposit_address.lower_hex())),
            column("payout_address", shown(&self.terms.payout_address.lower_hex())),
            column("buy_in", amount(self.terms.buy_in)),
            column("mass_per_coin", amount(self.terms.mass_per_coin)),
            column("developer_bps", int(self.terms.developer_bps.into())),
            column("world_bps", int(self.terms.world_bps.into())),
            column("exit_hold_ms", int(self.terms.exit_hold_ms)),
            column("developer_wallet", shown(&self.terms.developer.lower_hex())),
            column("paused_deposits", flag(self.pauses.deposits)),
            column("paused_spawns", flag(self.pauses.spawns)),
            column("paused_withdrawals", flag(self.pauses.withdrawals)),
            column("disabled", flag(self.pauses.disabled)),
            column("player_addresses", flag(self.player_addresses)),
            column("labels", text(&self.labels)),
            column("changed_by", shown(&self.changed_by)),
            column("changed_at", time(self.changed_at)),
            column("created_at", time(self.created_at)),
            column("rotated_at", maybe_time(self.rotated_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.version
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            name: parsed(row, "name")?,
            chain: parsed(row, "chain")?,
            asset: AssetId(small_of(row, "asset")?),
            custody_key: parsed(row, "custody_key")?,
            deposit_address: parsed(row, "deposit_address")?,
            terms: ServerTerms {
                buy_in: amount_of(row, "buy_in")?,
                developer_bps: small_of(row, "developer_bps")?,
                world_bps: small_of(row, "world_bps")?,
                mass_per_coin: amount_of(row, "mass_per_coin")?,
                exit_hold_ms: number_of(row, "exit_hold_ms")?,
                payout_address: parsed(row, "payout_address")?,
                developer: parsed(row, "developer_wallet")?,
            },
            pauses: Pauses {
                deposits: flag_of(row, "paused_deposits")?,
                spawns: flag_of(row, "paused_spawns")?,
                withdrawals: flag_of(row, "paused_withdrawals")?,
                disabled: flag_of(row, "disabled")?,
            },
            player_addresses: flag_of(row, "player_addresses")?,
            labels: string_of(row, "labels")?,
            version: number_of(row, "version")?,
            changed_by: parsed(row, "changed_by")?,
            changed_at: time_of(row, "changed_at")?,
            created_at: time_of(row, "created_at")?,
            rotated_at: maybe(row, "rotated_at", time_of)?,
        })
    }
}
