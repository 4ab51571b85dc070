//! The verdicts of a check, in words.

use bankroll_orders::Address;
use bankroll_terminal::{Exit, Paint};

use super::{compare::Difference, file::ParsedReceipt};

/// Differences that the text shows.
const DIFFERENCES_SHOWN: usize = 5;

#[derive(Clone, PartialEq, Eq)]
pub enum ReceiptVerdict {
    /// The record is in the journal; and, if so stated, the names of its accounts are what they are there.
    Proven { names: bool },
    /// The file is consistent, but no published head was given.
    OnlyConsistent,
    /// The file is consistent, but ends at another head.
    AnotherHead,
    /// The file is consistent, but leads to another published head than the one after this batch.
    NotUnder { batch: u64 },
    /// The file is consistent, and its head is not signed by this key.
    NotSignedBy { signer: Address },
    /// The record is not part of the batch, or not under the head that the file names.
    Broken,
    /// The file says these things that its record does not.
    Altered(Vec<Difference>),
}

impl ReceiptVerdict {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Proven { .. } => "proven",
            Self::OnlyConsistent => "not_checked_against_a_head",
            Self::AnotherHead | Self::NotUnder { .. } => "another_head",
            Self::NotSignedBy { .. } => "another_signer",
            Self::Broken => "broken",
            Self::Altered(_) => "altered",
        }
    }

    pub const fn proves_names(&self) -> bool {
        matches!(self, Self::Proven { names: true })
    }

    pub const fn exit(&self) -> Exit {
        match self {
            Self::Proven { .. } => Exit::Ok,
            Self::OnlyConsistent => Exit::Failed,
            _ => Exit::Unsound,
        }
    }

    pub fn text(&self, parsed: &ParsedReceipt, paint: Paint) -> String {
        let (head, batch) = (hex::encode(parsed.receipt.batch.head()), parsed.receipt.batch.number);
        let not_proven = paint.bad("not proven:");
        match self {
            Self::Proven { names: true } => proven_by_head(parsed, paint),
            Self::Proven { names: false } => format!(
                "{} this record is in the journal whose head after batch {batch} is\n  {head}\nThe names of accounts are \
                 not proven by that head: give --head a published one.",
                paint.good("proven:")
            ),
            Self::OnlyConsistent => format!(
                "{not_proven} the file is internally consistent but unverified. Give the head that was\npublished after \
                 batch {batch}: --head HASH, or a published one: --head FILE. The file says it is\n  {head}"
            ),
            Self::AnotherHead => format!(
                "{not_proven} the file is internally consistent, but its head after batch {batch} is\n  {head}\nand not \
                 the given one. Check that yours is the head after that batch."
            ),
            Self::NotUnder { batch: given } => format!(
                "{not_proven} the file is internally consistent, and leads to another published head than\nyours of batch \
                 {given}. Ask for the receipt under yours: `bankroll receipt {} --under {given}`.",
                parsed.receipt.seq
            ),
            Self::NotSignedBy { signer } => format!(
                "{not_proven} the file is internally consistent, and has no published head that {signer}\nhas signed."
            ),
            Self::Broken => format!(
                "{} the record, its path to the root and the batch do not belong together",
                paint.bad("broken:")
            ),
            Self::Altered(all) => altered_text(all, paint),
        }
    }
}

fn proven_by_head(parsed: &ParsedReceipt, paint: Paint) -> String {
    let proven = paint.good("proven:");
    let Some(published) = parsed.proof.as_ref().map(|proof| &proof.published) else { return proven };
    format!(
        "{proven} this record and these names are in the journal whose head after batch {} is\n  {}\nsigned by {}",
        published.batch,
        hex::encode(published.head),
        published.address
    )
}

fn altered_text(all: &[Difference], paint: Paint) -> String {
    let mut text = format!("{} the file says what its record does not:\n", paint.bad("altered:"));
    for Difference { path, file_says, record_says } in all.iter().take(DIFFERENCES_SHOWN) {
        text.push_str(&format!("  {path}\n    the file says    {file_says}\n"));
        text.push_str(&format!("    the record says  {record_says}\n"));
    }
    if let Some(more) = all.len().checked_sub(DIFFERENCES_SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("  and {more} more: --json lists all\n"));
    }
    text.push_str("The record above is what its hashes are of; do not believe the rest of the file.");
    text
}
