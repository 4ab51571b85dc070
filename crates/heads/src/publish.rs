//! Publishing: one step signs one head for all batches since the last one.

use bankroll_ledger::{
    GENESIS, Time,
    merkle::{self, GrowingTree, Hash},
};
use bankroll_orders::{Address, ChainId, typed_data::WalletSignature};
use bankroll_store::{Reader, Rows, Statement};

use crate::{
    HeadsError, SignedHead, rows,
    tree::{STORED_LEVEL, TreeReader},
    views,
};

/// Enough batches for one step: its rows are one commit, which the writer must not wait for.
pub const BATCHES_MAX: u64 = 65_536;
/// Batches read at a time.
const PAGE: usize = 4_096;

/// Who publishes: the key of the deployment and the names that its signatures carry.
pub struct HeadSigner<'a> {
    pub audience: &'a str,
    pub chain: ChainId,
    pub address: Address,
    /// The most batches that one step adds to the tree, such as [`BATCHES_MAX`]. After a long pause several heads are
    /// published, one for each step.
    pub batches_max: u64,
    /// Signs a digest; `None` if it cannot.
    pub sign: &'a dyn Fn(&[u8; 32]) -> Option<WalletSignature>,
}

/// What a step has published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedRound {
    pub head: SignedHead,
    /// Who signed the head before it, if there is one.
    pub previous_signer: Option<Address>,
    /// Whether the journal has more batches than this head covers.
    pub has_more: bool,
}

/// A head that is signed and not yet written, with the nodes that it completes.
#[derive(Clone, Debug)]
pub struct HeadDraft {
    pub round: PublishedRound,
    statements: Vec<Statement>,
}

/// Publishes a head for the batches since the last one; `None` if there are none.
///
/// # Errors
/// Nothing was signed if the journal is not what was published, and the rows say why. After [`HeadsError::Rows`] the
/// head may be written; the next step finds out.
pub fn step(signer: &HeadSigner<'_>, rows: &Rows, now: Time) -> Result<Option<PublishedRound>, HeadsError> {
    let Some(draft) = draft(signer, rows.reader(), now)? else { return Ok(None) };
    draft.write(rows).map(Some)
}

/// The first half of [`step`]: everything but writing.
///
/// # Errors
/// As [`step`]; nothing was written.
pub fn draft(signer: &HeadSigner<'_>, reader: &Reader, now: Time) -> Result<Option<HeadDraft>, HeadsError> {
    let published = views::latest(reader)?;
    let size = published.as_ref().map_or(0, |head| head.batch);
    if let Some(published) = &published
        && !reader.has_head(size, &published.head)?
    {
        return Err(HeadsError::HeadGone { batch: size });
    }
    let last = reader.head()?.batch;
    if last == size {
        return Ok(None);
    }
    let mut tree = TreeReader::new(reader).grown(size)?;
    if published.as_ref().is_some_and(|published| published.root != tree.root()) {
        return Err(HeadsError::TreeDiffers { batch: size });
    }
    let head = published.as_ref().map_or(GENESIS, |published| published.head);
    let (head, mut statements) = grow(&mut tree, head, reader, last.min(size.saturating_add(signer.batches_max)))?;
    // A clock that was set back does not make a later head an earlier one.
    let seconds = (now.0 / 1_000_000).max(published.as_ref().map_or(0, |published| published.seconds));
    let head = sign(signer, &tree, head, seconds)?;
    statements.push(rows::insert_head(&head));
    let previous_signer = published.map(|published| published.address);
    let has_more = head.batch < last;
    Ok(Some(HeadDraft { round: PublishedRound { head, previous_signer, has_more }, statements }))
}

impl HeadDraft {
    /// Writes the head and its nodes, all or none.
    ///
    /// # Errors
    /// [`HeadsError::Rows`].
    pub fn write(self, rows: &Rows) -> Result<PublishedRound, HeadsError> {
        rows.write(self.statements)?;
        Ok(self.round)
    }
}

/// Adds the heads of the next batches; returns the last head, and the rows of the subtrees that are full now.
fn grow(
    tree: &mut GrowingTree,
    mut head: Hash,
    reader: &Reader,
    until: u64,
) -> Result<(Hash, Vec<Statement>), HeadsError> {
    let mut nodes = Vec::new();
    while tree.size() < until {
        let next = tree.size().saturating_add(1);
        let left = usize::try_from(until.saturating_sub(tree.size())).unwrap_or(PAGE);
        let batches = reader.batches(next, PAGE.min(left))?;
        if batches.is_empty() {
            return Err(HeadsError::ChainBroken { batch: next });
        }
        for ((batch, stored), number) in batches.iter().zip(next..) {
            if batch.number != number || batch.previous != head || batch.head() != *stored {
                return Err(HeadsError::ChainBroken { batch: number });
            }
            head = *stored;
            tree.push(merkle::leaf(&head), |subtree, hash| {
                if subtree.level >= STORED_LEVEL {
                    nodes.push(rows::insert_node(subtree, &hash));
                }
            });
        }
    }
    Ok((head, nodes))
}

fn sign(signer: &HeadSigner<'_>, tree: &GrowingTree, head: Hash, seconds: u64) -> Result<SignedHead, HeadsError> {
    let unsigned = SignedHead {
        audience: signer.audience.to_owned(),
        chain: signer.chain,
        batch: tree.size(),
        head,
        root: tree.root(),
        seconds,
        address: signer.address,
        signature: WalletSignature([0; 65]),
    };
    let signature = (signer.sign)(&unsigned.digest()).ok_or(HeadsError::Unsigned)?;
    let signed = SignedHead { signature, ..unsigned };
    // A key that is not the address would be published as a statement that its readers refuse.
    signed.verify(None).map_err(|_| HeadsError::Unsigned)?;
    Ok(signed)
}

impl std::fmt::Debug for HeadSigner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HeadSigner({}, {})", self.audience, self.address)
    }
}
