//! Players, and the wallets that they have proved to be theirs.
//!
//! A player is named by the first wallet they signed in with. Only a wallet's own signature makes it a player's:
//! neither a game server nor another player can claim it.

use bankroll_ledger::{Column, ColumnValue, Fact, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, maybe, number_of, parsed, text, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_parsed, maybe_shown, maybe_time, shown, string_of, time_of};

/// A player who has signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredPlayer {
    /// Their first wallet, in lower case: the owner of their accounts.
    pub player: Name,
    pub first_signed_in_at: Time,
    /// They have excluded themselves until this time. It only ever moves later.
    pub excluded_until: Option<Time>,
    pub revision: u64,
}

/// A wallet with its own proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerWallet {
    pub wallet: Address,
    pub player: Name,
    pub proven_by: WalletEvidence,
    pub linked_at: Time,
}

/// What stands behind a wallet's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalletEvidence {
    /// The wallet's key, which is the same on every chain.
    Key,
    /// A contract on this chain (ERC-1271). On another chain the same address may be another person's contract.
    Contract(Name),
}

/// The signed message, kept with the wallet it proves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProof {
    pub message: String,
    pub signature: Vec<u8>,
}

impl RegisteredPlayer {
    #[must_use]
    pub fn is_excluded(&self, now: Time) -> bool {
        self.excluded_until.is_some_and(|until| now < until)
    }
}

impl PlayerWallet {
    /// Whether a payment from this wallet on this chain is the player's.
    #[must_use]
    pub fn is_proven_on(&self, chain: &Name) -> bool {
        match &self.proven_by {
            WalletEvidence::Key => true,
            WalletEvidence::Contract(of) => of == chain,
        }
    }

    pub(crate) const TABLE: &'static str = "player_wallets";

    /// The row, which is written once.
    pub(crate) fn fact(&self, proof: &SignInProof) -> Fact {
        let (kind, chain) = match &self.proven_by {
            WalletEvidence::Key => ("key", None),
            WalletEvidence::Contract(chain) => ("contract", Some(chain)),
        };
        let set = vec![
            column("player", shown(&self.player)),
            column("proven_by", text(kind)),
            column("chain", maybe_shown(chain)),
            column("message", text(&proof.message)),
            column("signature", ColumnValue::Bytes(proof.signature.clone())),
            column("linked_at", time(self.linked_at)),
        ];
        crate::entry::new_row(Self::TABLE, vec![column("wallet", shown(&self.wallet.lower_hex()))], set)
    }

    /// Reads a row; the proof stays in the database.
    pub(crate) fn from_row(row: &Row) -> Result<Self, BadRow> {
        let chain = maybe_parsed(row, "chain")?;
        let proven_by = match (string_of(row, "proven_by")?.as_str(), chain) {
            ("key", None) => WalletEvidence::Key,
            ("contract", Some(chain)) => WalletEvidence::Contract(chain),
            _ => return Err(BadRow { column: "proven_by" }),
        };
        Ok(Self {
            wallet: parsed(row, "wallet")?,
            player: parsed(row, "player")?,
            proven_by,
            linked_at: time_of(row, "linked_at")?,
        })
    }
}

impl Entry for RegisteredPlayer {
    const TABLE: &'static str = "players";

    fn key(&self) -> Vec<Column> {
        vec![column("player", shown(&self.player))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("first_signed_in_at", time(self.first_signed_in_at)),
            column("excluded_until", maybe_time(self.excluded_until)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            player: parsed(row, "player")?,
            first_signed_in_at: time_of(row, "first_signed_in_at")?,
            excluded_until: maybe(row, "excluded_until", time_of)?,
            revision: number_of(row, "revision")?,
        })
    }
}
