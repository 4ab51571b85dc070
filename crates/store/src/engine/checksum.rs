//! Checksums of rows: each covers the content of a row and its own number, so that a row which is damaged, or which
//! lies under another number, is noticed when it is read.
//!
//! They protect against a disk that damages bytes, not against an attacker: the hash chain does that. The commit of a
//! row writes its checksum; the decoder compares it (`stored.rs`). Nothing is allocated: every commit computes them.

use bankroll_ledger::{
    Account, AccountId, Amount, Asset, AssetId, Hold, Seq, Unit,
    merkle::{self, Hash},
};
use sha2::{Digest, Sha256};

use super::runs::RunMeta;

/// The parts of one row. It begins with the name of its table: a row of another table does not pass.
struct RowHasher(crc32fast::Hasher);

impl RowHasher {
    fn new(table: &str) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(table.as_bytes());
        Self(hasher)
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    fn number(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Texts are counted, so that (ab, c) and (a, bc) differ.
    fn text(self, text: &str) -> Self {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }

    fn optional(self, number: Option<u64>) -> Self {
        match number {
            Some(number) => self.bytes(&[1]).number(number),
            None => self.bytes(&[0]),
        }
    }

    /// As a signed number, which both engines store in four bytes.
    fn finish(self) -> i32 {
        self.0.finalize().cast_signed()
    }
}

/// Of a record: the first 8 bytes of its leaf in the Merkle tree of its batch, and its place.
pub(super) fn record(seq: Seq, leaf: &Hash) -> i64 {
    let head = leaf.first_chunk::<8>().map_or(0, |head| u64::from_be_bytes(*head));
    (head ^ seq.0).cast_signed()
}

pub(super) fn stored_record(seq: Seq, bytes: &[u8]) -> i64 {
    record(seq, &merkle::leaf(bytes))
}

/// In one piece: every commit writes many of these rows.
pub(super) fn balance(id: AccountId, balance: Amount, held: Amount) -> i32 {
    let mut bytes = *b"balances----------------------------------------";
    bytes[8..16].copy_from_slice(&id.0.to_be_bytes());
    bytes[16..32].copy_from_slice(&balance.units().to_be_bytes());
    bytes[32..48].copy_from_slice(&held.units().to_be_bytes());
    crc32fast::hash(&bytes).cast_signed()
}

/// Of an account without its balance; `name` is its name as text.
pub(super) fn account(account: &Account, name: &str, name_hash: i64) -> i32 {
    let policy = account.policy;
    RowHasher::new("accounts")
        .number(account.id.0)
        .text(name)
        .bytes(&[policy.deposit.bits(), policy.withdraw.bits(), policy.transfer.bits()])
        .optional(account.debt.map(|debt| debt.0))
        .number(name_hash.cast_unsigned())
        .finish()
}

/// What the second index of names has: 64 bits of a hash that is the same for ever.
pub(super) fn name_hash(name: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    digest.first_chunk::<8>().map_or(0, |head| i64::from_be_bytes(*head))
}

pub(super) fn hold(hold: &Hold) -> i32 {
    RowHasher::new("holds")
        .number(hold.id.0)
        .number(hold.account.0)
        .bytes(&hold.remaining.units().to_be_bytes())
        .optional(hold.expires.map(|expires| expires.0))
        .bytes(&[hold.settler as u8, hold.state as u8])
        .finish()
}

pub(super) fn asset(id: AssetId, asset: &Asset) -> i32 {
    let contract = match &asset.unit {
        Unit::Native => "",
        Unit::Token(contract) => contract.as_str(),
    };
    RowHasher::new("assets")
        .number(id.0.into())
        .text(asset.chain.as_str())
        .text(contract)
        .bytes(&[asset.decimals])
        .text(&asset.symbol)
        .finish()
}

pub(super) fn reversal(original: Seq, reversal: Seq) -> i32 {
    RowHasher::new("reversals").number(original.0).number(reversal.0).finish()
}

pub(super) fn event(seq: Seq, place: u16, kind: &str, resource: &str, body: &str) -> i32 {
    RowHasher::new("outbox").number(seq.0).number(place.into()).text(kind).text(resource).text(body).finish()
}

/// Of the row of a run without its summary, which has a checksum of its own.
pub(super) fn key_run(run: &RunMeta) -> i32 {
    let RunMeta { id, level, first, last, entries, first_chunk, chunks } = run;
    let numbers = [*id, u64::from(*level), first.0, last.0, *entries, *first_chunk, *chunks];
    numbers.into_iter().fold(RowHasher::new("key_runs"), RowHasher::number).finish()
}
