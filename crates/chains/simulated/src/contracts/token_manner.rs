//! How a token treats a transfer, and how it logs it.

/// The ways of tokens, as they exist on real chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenManner {
    Sound,
    /// Gives the recipient nine tenths, and logs the full amount.
    Taxed,
    /// Returns false, and does nothing.
    Declining,
    /// Logs, returns true, and moves nothing.
    Boasting,
    /// Moves, and logs nothing.
    Silent,
    /// Balances are shares times a factor that everyone can change, without a transfer.
    Rebasing,
    /// An ERC-721: the third argument is the number of an item, and has a topic of its own.
    Collectible,
    /// Logs everything as data: one topic and 96 bytes.
    Unindexed,
}

impl TokenManner {
    const ALL: [Self; 8] = [
        Self::Sound,
        Self::Taxed,
        Self::Declining,
        Self::Boasting,
        Self::Silent,
        Self::Rebasing,
        Self::Collectible,
        Self::Unindexed,
    ];

    /// Its number in `setManner(uint256,uint256)`.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn of(number: usize) -> Option<Self> {
        Self::ALL.get(number).copied()
    }
}
