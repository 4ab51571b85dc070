//! What the scanner saw, as a log that is only ever appended to: table `chain_events`.
//!
//! Each chain has one log, numbered from 1. Every event has the hash of its content and of the event before it, so an
//! edited, inserted, moved or removed row breaks the log where it stands. The books credit what the log says of a
//! deposit, never what a column of `deposits` says; the records of the journal name the events they followed from.
//!
//! It does not know whether the log as a whole was written anew by somebody who has the database: what was credited is
//! anchored in the journal, and what was not is compared with the chain by reconciliation.

use bankroll_chains_evm::{B256, Quantity, U256};
use bankroll_ledger::{AccountName, AssetId, ColumnValue, Name, Row, Time};
use bankroll_store::columns::{BadRow, int, maybe, number_of, parsed, text, text_of, time};
use sha2::{Digest, Sha256};

use crate::{DepositId, DepositKind, Doubt, Purpose, Sighting, follower::BlockPoint};

/// The hash of an event, in hexadecimal digits as in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventHash(pub [u8; 32]);

/// What happened to an inclusion of a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InclusionChange {
    /// A block has it.
    Included,
    /// It is deep enough.
    Final,
    /// Its block is no longer canonical.
    Orphaned,
}

impl InclusionChange {
    const ALL: [Self; 3] = [Self::Included, Self::Final, Self::Orphaned];

    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Final => "final",
            Self::Orphaned => "orphaned",
        }
    }

    fn from_row(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// One inclusion of a deposit: everything that its block says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    pub deposit: DepositId,
    /// Which inclusion, from 1.
    pub epoch: u64,
    pub transaction: B256,
    pub index: u64,
    pub kind: DepositKind,
    pub position: u32,
    pub asset: AssetId,
    /// The sender, with lowercase digits.
    pub from: String,
    /// The address of ours, with lowercase digits.
    pub to: String,
    /// In base units.
    pub value: Quantity,
    pub purpose: Purpose,
    pub server: Name,
    pub wallet: Option<Name>,
    pub custody: AccountName,
    pub block: BlockPoint,
    pub block_time: u64,
    pub required: u64,
    /// Whether several providers must have its block before it is final.
    pub needs_agreement: bool,
    pub doubt: Option<Doubt>,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEvent {
    pub chain: Name,
    pub number: u64,
    pub change: InclusionChange,
    pub inclusion: Inclusion,
    /// Our newest block when it was written; of an orphaned one, the last block that both branches have.
    pub head: BlockPoint,
    pub at: Time,
    pub previous: EventHash,
    pub hash: EventHash,
}

/// The newest event of a chain, as its cursor notes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTail {
    pub number: u64,
    pub hash: EventHash,
}

impl EventTail {
    /// Of an empty log.
    pub const EMPTY: Self = Self { number: 0, hash: EventHash([0; 32]) };
}

impl Inclusion {
    pub(crate) fn new(sighting: Sighting, epoch: u64) -> Self {
        let Sighting { id, transfer, attribution, header, required, needs_agreement, doubt } = sighting;
        Self {
            deposit: id,
            epoch,
            transaction: transfer.transaction,
            index: transfer.index,
            kind: transfer.kind,
            position: transfer.position,
            asset: transfer.asset,
            from: transfer.from.lower_hex(),
            to: transfer.to.lower_hex(),
            value: transfer.value,
            purpose: attribution.purpose,
            server: attribution.server,
            wallet: attribution.wallet,
            custody: attribution.custody,
            block: BlockPoint::from(&header),
            block_time: header.time,
            required,
            needs_agreement,
            doubt,
        }
    }

    /// Columns and values, in the order in which they are hashed.
    pub(crate) fn columns(&self) -> [(&'static str, ColumnValue); 20] {
        let hash = |hash: B256| text(&format!("{hash:#x}"));
        [
            ("deposit_id", text(self.deposit.as_str())),
            ("epoch", int(self.epoch)),
            ("tx_hash", hash(self.transaction)),
            ("tx_index", int(self.index)),
            ("event_type", text(self.kind.event_type())),
            ("kind", text(self.kind.as_str())),
            ("position", int(self.position.into())),
            ("asset", int(self.asset.0.into())),
            ("from_address", text(&self.from)),
            ("to_address", text(&self.to)),
            ("amount_raw", text(&self.value.to_string())),
            ("purpose", text(self.purpose.as_str())),
            ("server", text(self.server.as_str())),
            ("wallet", self.wallet.as_ref().map_or(ColumnValue::Null, |wallet| text(wallet.as_str()))),
            ("custody", text(&self.custody.to_string())),
            ("block_height", int(self.block.number)),
            ("block_hash", hash(self.block.hash)),
            ("block_time", int(self.block_time)),
            ("required_confirmations", int(self.required)),
            ("needs_agreement", int(u64::from(self.needs_agreement))),
        ]
    }

    /// What a row of `deposits` says of an inclusion.
    pub(crate) fn deposit_columns(&self) -> Vec<(&'static str, ColumnValue)> {
        let renamed = self.columns().into_iter().filter_map(|(name, value)| match name {
            "deposit_id" => Some(("id", value)),
            "event_type" => None,
            "block_height" => Some(("block_number", value)),
            name => Some((name, value)),
        });
        let mut columns: Vec<_> = renamed.collect();
        columns.extend([
            ("amount", self.value.amount().map_or(ColumnValue::Null, ColumnValue::Amount)),
            ("doubt", self.doubt.map_or(ColumnValue::Null, |doubt| text(doubt.as_str()))),
        ]);
        columns
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        let small = |column| number_of(row, column)?.try_into().map_err(|_| BadRow { column });
        let kind = DepositKind::from_row(text_of(row, "kind")?).ok_or(BadRow { column: "kind" })?;
        if text_of(row, "event_type")? != kind.event_type() {
            return Err(BadRow { column: "event_type" });
        }
        let doubt = maybe(row, "doubt", text_of)?;
        Ok(Self {
            deposit: DepositId::from_row(text_of(row, "deposit_id")?),
            epoch: number_of(row, "epoch")?,
            transaction: parsed(row, "tx_hash")?,
            index: number_of(row, "tx_index")?,
            kind,
            position: small("position")?,
            asset: AssetId(small("asset")?),
            from: text_of(row, "from_address")?.to_owned(),
            to: text_of(row, "to_address")?.to_owned(),
            value: Quantity::new(parsed::<U256>(row, "amount_raw")?),
            purpose: Purpose::from_row(text_of(row, "purpose")?).ok_or(BadRow { column: "purpose" })?,
            server: parsed(row, "server")?,
            wallet: maybe(row, "wallet", parsed)?,
            custody: parsed(row, "custody")?,
            block: BlockPoint { number: number_of(row, "block_height")?, hash: parsed(row, "block_hash")? },
            block_time: number_of(row, "block_time")?,
            required: number_of(row, "required_confirmations")?,
            needs_agreement: number_of(row, "needs_agreement")? == 1,
            doubt: doubt.map(|text| Doubt::from_row(text).ok_or(BadRow { column: "doubt" })).transpose()?,
        })
    }
}

impl ChainEvent {
    /// The next event of a log.
    #[must_use]
    pub fn after(
        tail: EventTail,
        chain: &Name,
        change: InclusionChange,
        inclusion: Inclusion,
        head: BlockPoint,
        at: Time,
    ) -> Self {
        let (number, previous) = (tail.number.saturating_add(1), tail.hash);
        let hash = EventHash([0; 32]);
        let mut event = Self { chain: chain.clone(), number, change, inclusion, head, at, previous, hash };
        event.hash = event.computed_hash();
        event
    }

    #[must_use]
    pub const fn tail(&self) -> EventTail {
        EventTail { number: self.number, hash: self.hash }
    }

    /// Whether the row is what was hashed when it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.hash == self.computed_hash()
    }

    /// Whether this event follows another in the log.
    #[must_use]
    pub fn follows(&self, tail: EventTail) -> bool {
        self.number.checked_sub(1) == Some(tail.number) && self.previous == tail.hash
    }

    fn computed_hash(&self) -> EventHash {
        let mut hasher = Sha256::new();
        hasher.update(b"bankroll chain event 1");
        hasher.update(self.previous.0);
        for (name, value) in self.content() {
            // Name and length make the bytes of one content different from those of any other.
            let (tag, bytes) = match &value {
                ColumnValue::Null => (0_u8, Vec::new()),
                ColumnValue::Int(number) => (1, number.to_be_bytes().to_vec()),
                ColumnValue::Text(text) => (2, text.clone().into_bytes()),
                ColumnValue::Bytes(bytes) => (3, bytes.clone()),
                ColumnValue::Amount(amount) => (4, amount.units().to_be_bytes().to_vec()),
            };
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            hasher.update(name.as_bytes());
            hasher.update([0, tag]);
            hasher.update(length.to_be_bytes());
            hasher.update(&bytes);
        }
        EventHash(hasher.finalize().into())
    }

    fn content(&self) -> Vec<(&'static str, ColumnValue)> {
        let mut content = vec![
            ("chain", text(self.chain.as_str())),
            ("number", int(self.number)),
            ("change", text(self.change.as_str())),
            ("doubt", self.inclusion.doubt.map_or(ColumnValue::Null, |doubt| text(doubt.as_str()))),
            ("head_height", int(self.head.number)),
            ("head_hash", text(&format!("{:#x}", self.head.hash))),
            ("observed_at", time(self.at)),
        ];
        content.extend(self.inclusion.columns());
        content
    }

    /// Every column of the row, with its value.
    #[must_use]
    pub fn row(&self) -> Vec<(&'static str, ColumnValue)> {
        let mut row = self.content();
        row.extend([("previous_hash", text(&self.previous.to_string())), ("hash", text(&self.hash.to_string()))]);
        row
    }

    pub(crate) fn from_row(row: &Row) -> Result<Self, BadRow> {
        let event = Self::read(row)?;
        // One spelling for each value: an edit that means the same is an edit.
        let same = |(column, value): &(&'static str, ColumnValue)| row.get(*column) == Some(value);
        event.row().iter().find(|column| !same(column)).map_or(Ok(event.clone()), |(column, _)| Err(BadRow { column }))
    }

    fn read(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            chain: parsed(row, "chain")?,
            number: number_of(row, "number")?,
            change: InclusionChange::from_row(text_of(row, "change")?).ok_or(BadRow { column: "change" })?,
            inclusion: Inclusion::from_row(row)?,
            head: BlockPoint { number: number_of(row, "head_height")?, hash: parsed(row, "head_hash")? },
            at: Time(number_of(row, "observed_at")?),
            previous: parsed(row, "previous_hash")?,
            hash: parsed(row, "hash")?,
        })
    }
}

impl std::fmt::Display for EventHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}", B256::new(self.0))
    }
}

/// A text that is no hash of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 64 lowercase hexadecimal digits")]
pub struct NoEventHash;

impl std::str::FromStr for EventHash {
    type Err = NoEventHash;

    fn from_str(text: &str) -> Result<Self, NoEventHash> {
        let hash: B256 = text.parse().map_err(|_| NoEventHash)?;
        // One spelling: an edit of the case of a digit is an edit.
        let hash = Self(hash.0);
        if hash.to_string() == text { Ok(hash) } else { Err(NoEventHash) }
    }
}
