//! The public log and the stored tree, compared with the journal from its beginning.

use bankroll_ledger::merkle::{self, GrowingTree};
use bankroll_store::{Reader, columns::int};

use crate::{
    HeadsError,
    rows::{COLUMNS, bytes_of, head_of},
    tree::STORED_LEVEL,
    views,
};

/// Batches read at a time.
const PAGE: u64 = 4_096;

/// Compares every published head and every node of the tree with the batches of the journal, and the newest signature
/// with its address. Returns the number of heads. Older signatures are left to the readers who keep them.
///
/// # Errors
/// The first row that the journal does not give, or the books cannot be read.
pub fn run(reader: &Reader) -> Result<u64, HeadsError> {
    let Some(newest) = views::latest(reader)? else { return Ok(0) };
    let differs = |batch| HeadsError::TreeDiffers { batch };
    newest.verify(None).map_err(|_| differs(newest.batch))?;
    let (mut tree, mut heads) = (GrowingTree::default(), 0_u64);
    while tree.size() < newest.batch {
        let first = tree.size().saturating_add(1);
        let last = newest.batch.min(tree.size().saturating_add(PAGE));
        let sql = format!("{COLUMNS} WHERE batch >= $1 AND batch <= $2 ORDER BY batch");
        let mut published = reader.rows(&sql, vec![int(first), int(last)])?.into_iter().peekable();
        let most = usize::try_from(last.saturating_sub(tree.size())).unwrap_or(usize::MAX);
        let batches = reader.batches(first, most)?;
        if batches.len() != most {
            return Err(HeadsError::HeadGone { batch: newest.batch });
        }
        let mut nodes = Vec::new();
        for (batch, head) in &batches {
            tree.push(merkle::leaf(head), |subtree, hash| {
                if subtree.level >= STORED_LEVEL {
                    nodes.push((batch.number, subtree, hash));
                }
            });
            let Some(row) = published.peek() else { continue };
            let stated = head_of(row)?;
            if stated.batch == batch.number {
                if stated.head != *head {
                    return Err(HeadsError::HeadGone { batch: batch.number });
                }
                if stated.root != tree.root() {
                    return Err(differs(batch.number));
                }
                heads = heads.saturating_add(1);
                published.next();
            }
        }
        for (batch, subtree, hash) in nodes {
            let sql = "SELECT hash FROM head_nodes WHERE level = $1 AND place = $2";
            let row = reader.rows(sql, vec![int(subtree.level.into()), int(subtree.index)])?.pop();
            let missing = HeadsError::NodeMissing { level: subtree.level, place: subtree.index };
            if bytes_of(&row.ok_or(missing)?, "hash")? != hash {
                return Err(differs(batch));
            }
        }
    }
    Ok(heads)
}
