//! The tables behind the evaluator: built once in a few milliseconds, about 270 KB, nothing committed.
//!
//! Without a flush the strength depends only on how many cards there are of each rank. Each rank has a weight such that
//! the weights of any seven cards have a sum of their own; the sum is looked up in a table whose rows, 128 sums each
//! and mostly empty, are laid over each other so that no two entries meet. With a flush the strength depends only on
//! which ranks of that suit there are, because seven cards with five of a suit can hold neither four of a rank nor a
//! full house.

#![allow(clippy::indexing_slicing, reason = "filled once from constants; a place outside a table is a bug here")]

use super::describe::{Description, RankCounts, of_ranks, of_suited};

/// The smallest weights, each chosen after the ones before, that give every choice of seven cards its own sum.
pub(super) const WEIGHTS: [u32; 13] = [0, 1, 5, 22, 98, 453, 2_031, 8_698, 22_854, 83_661, 262_349, 636_345, 1_479_181];

const ROW_BITS: u32 = 7;
/// More than the largest sum has, so that a lookup needs no check.
const ROWS: usize = 65_536;
/// A place is a `u16`, for the same reason.
const PLACES: usize = 65_536;
const MASKS: usize = 8_192;

pub(super) struct Tables {
    /// Where each row begins.
    offsets: Box<[u16; ROWS]>,
    unsuited: Box<[u16; PLACES]>,
    suited: Box<[u16; MASKS]>,
}

impl Tables {
    pub fn build() -> Self {
        let order = descriptions();
        let number = |description: Description| {
            let at = order.binary_search(&description).expect("seven cards hold one of the five-card hands");
            u16::try_from(at).expect("there are 7,462")
        };
        let mut suited = zeros::<MASKS>();
        for mask in (0..8_192_u16).filter(|mask| mask.count_ones() >= 5) {
            suited[usize::from(mask)] = number(of_suited(mask));
        }
        let entries = choices(7).into_iter().map(|counts| (sum_of(&counts), number(of_ranks(&counts))));
        let (offsets, unsuited) = lay_out(entries.collect());
        Self { offsets, unsuited, suited }
    }

    #[inline]
    pub fn unsuited(&self, sum: u32) -> u16 {
        let offset = self.offsets[(sum >> ROW_BITS) as usize & (ROWS - 1)];
        let column = (sum & ((1 << ROW_BITS) - 1)) as u16;
        self.unsuited[usize::from(offset.wrapping_add(column))]
    }

    #[inline]
    pub fn suited(&self, mask: u16) -> u16 {
        self.suited[usize::from(mask) & (MASKS - 1)]
    }
}

/// All five-card hands that differ in strength, weakest first.
pub(super) fn descriptions() -> Vec<Description> {
    let unsuited = choices(5).into_iter().map(|counts| of_ranks(&counts));
    let suited = (0..8_192_u16).filter(|mask| mask.count_ones() == 5).map(of_suited);
    let mut all: Vec<_> = unsuited.chain(suited).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Every way to have so many cards, at most four of a rank.
pub(super) fn choices(cards: u8) -> Vec<RankCounts> {
    let mut all = vec![([0_u8; 13], cards)];
    for rank in 0..13 {
        let more = |(counts, left): (RankCounts, u8)| {
            (0..=left.min(4)).map(move |count| {
                let mut counts = counts;
                counts[rank] = count;
                (counts, left.saturating_sub(count))
            })
        };
        all = all.into_iter().flat_map(more).collect();
    }
    all.into_iter().filter(|(_, left)| *left == 0).map(|(counts, _)| counts).collect()
}

pub(super) fn sum_of(counts: &RankCounts) -> u32 {
    WEIGHTS
        .iter()
        .zip(counts)
        .fold(0, |sum, (weight, count)| sum.saturating_add(weight.saturating_mul((*count).into())))
}

/// Lays rows over each other: the fullest first, each at the first offset at which it meets no other.
fn lay_out(mut entries: Vec<(u32, u16)>) -> (Box<[u16; ROWS]>, Box<[u16; PLACES]>) {
    entries.sort_unstable();
    let mut rows: Vec<&[(u32, u16)]> = entries.chunk_by(|a, b| a.0 >> ROW_BITS == b.0 >> ROW_BITS).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.len()));
    let (mut offsets, mut places, mut taken) = (zeros::<ROWS>(), zeros::<PLACES>(), vec![false; PLACES]);
    let mut first_free = 0_usize;
    for row in rows {
        let columns = || row.iter().map(|(sum, strength)| ((sum & ((1 << ROW_BITS) - 1)) as usize, *strength));
        let lowest = columns().map(|(column, _)| column).min().unwrap_or(0);
        let fits =
            |offset: &usize| columns().all(|(column, _)| taken.get(offset.saturating_add(column)) == Some(&false));
        let offset = (first_free.saturating_sub(lowest)..PLACES).find(fits).expect("the rows fit");
        for (column, strength) in columns() {
            let place = offset.saturating_add(column);
            (taken[place], places[place]) = (true, strength);
        }
        first_free =
            taken.iter().skip(first_free).position(|taken| !taken).map_or(PLACES, |at| at.saturating_add(first_free));
        offsets[(row[0].0 >> ROW_BITS) as usize] = u16::try_from(offset).expect("an offset is a place");
    }
    (offsets, places)
}

/// Made on the heap, since the stack of a thread may be small.
#[expect(clippy::unnecessary_box_returns, reason = "the box is the point")]
fn zeros<const N: usize>() -> Box<[u16; N]> {
    vec![0; N].into_boxed_slice().try_into().expect("the vector has this length")
}
