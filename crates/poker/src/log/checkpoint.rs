//! The end of a hand in one signed page: how many events, their Merkle root, the chain, the state, the final stacks.
//!
//! With it and an inclusion proof any holder proves that an event was in the hand, without the other events. Players
//! may sign the final stacks too; what they sign names the chain, so it can stand for no other hand and no other
//! history.

use serde::{Deserialize, Serialize};

use super::{
    HandConfig, LogHash,
    signing::{MessageSigner, Signature, SignerKey},
};
use crate::{Chips, Seat, codec};

const DOMAIN: &str = "bankroll checkpoint 1";
const STACKS_DOMAIN: &str = "bankroll final stacks 1";

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointPage {
    /// The operator's deployment.
    pub deployment: String,
    /// The game within it.
    pub game: String,
    /// The hand within the game.
    pub hand: String,
    pub events: u64,
    /// The Merkle root over their ids.
    pub root: LogHash,
    /// The chain after the last.
    pub chain: LogHash,
    /// The state they lead to.
    pub state: LogHash,
    /// The final stacks, by seat.
    pub stacks: Vec<(Seat, Chips)>,
    /// What the house took.
    pub rake: Chips,
}

/// A signed page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub page: CheckpointPage,
    /// Made by the operator.
    pub signature: Signature,
}

/// A player's signature of the final stacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cosignature {
    pub seat: Seat,
    /// Over the hand, the chain, the stacks and the rake.
    pub signature: Signature,
}

impl Checkpoint {
    #[must_use]
    pub fn issue(page: CheckpointPage, operator: &MessageSigner) -> Self {
        let signature = operator.sign(DOMAIN, &codec::encode(&page));
        Self { page, signature }
    }

    /// Whether the owner of this key signed it.
    #[must_use]
    pub fn is_signed_by(&self, operator: &SignerKey) -> bool {
        operator.signed(DOMAIN, &codec::encode(&self.page), &self.signature)
    }
}

impl CheckpointPage {
    /// Whether it is about this hand.
    pub(super) fn is_of(&self, config: &HandConfig) -> bool {
        (&self.deployment, &self.game, &self.hand) == (&config.deployment, &config.game, &config.hand)
    }

    fn final_stacks(&self) -> Vec<u8> {
        codec::encode(&(&self.deployment, &self.game, &self.hand, &self.chain, &self.stacks, &self.rake))
    }

    /// A player agrees to the final stacks.
    #[must_use]
    pub fn cosign(&self, seat: Seat, player: &MessageSigner) -> Cosignature {
        Cosignature { seat, signature: player.sign(STACKS_DOMAIN, &self.final_stacks()) }
    }

    /// Whether the owner of this key agreed to them.
    #[must_use]
    pub fn is_agreed_by(&self, player: &SignerKey, cosignature: &Cosignature) -> bool {
        player.signed(STACKS_DOMAIN, &self.final_stacks(), &cosignature.signature)
    }
}
