//! What a proof is for.
//!
//! A proof that does not say where it belongs can be played again elsewhere. Every challenge of this crate begins with
//! all of a [`Context`], so a proof made for one hand, card, seat, author or kind of message is refused for any other.
//!
//! The verifier builds the context from its own state, never from a message. Who signed a message, and whether it was
//! the signer's turn, is not known here.

/// The version of everything that is hashed, proven and encoded here.
pub const VERSION: u16 = 1;

/// A SHA-256 digest.
pub type ContextDigest = [u8; 32];

/// Which hand, of all hands of all operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandId {
    /// The operator's deployment.
    pub deployment: String,
    /// The game (table) within the deployment.
    pub game: String,
    /// The hand within the game.
    pub hand: String,
}

/// What kind of message a proof belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProofKind {
    /// A shuffler proves possession of the key it registers.
    ShufflerKey,
    /// A player proves possession of the key they register.
    PlayerKey,
    /// A shuffler gives another a share of a key that a quorum holds.
    Dealing,
    /// A shuffler shuffled.
    Shuffle,
    /// A shuffler blinds a hole card for its player.
    Blinding,
    /// A shuffler removes its layer from a blinded hole card.
    Unblinding,
    /// A shuffler removes its layer from a community card.
    Community,
    /// A player opens a hole card to all.
    Showdown,
}

impl ProofKind {
    /// The name that is hashed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShufflerKey => "shuffler key",
            Self::PlayerKey => "player key",
            Self::Dealing => "dealing",
            Self::Shuffle => "shuffle",
            Self::Blinding => "blinding",
            Self::Unblinding => "unblinding",
            Self::Community => "community",
            Self::Showdown => "showdown",
        }
    }
}

/// All that a challenge is bound to, besides the statement itself and the curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// [`VERSION`].
    pub version: u16,
    pub hand: HandId,
    pub actor: String,
    /// In which kind of message.
    pub kind: ProofKind,
    /// The card's position in the final deck; for a shuffle, the step; for a dealing, the receiver.
    pub position: Option<u8>,
    /// The seat that the card, or the key, belongs to.
    pub seat: Option<u8>,
    /// The hash of the final deck, once there is one.
    pub deck: Option<ContextDigest>,
}

impl HandId {
    /// The context of a message of this kind by this actor, before anything is dealt.
    #[must_use]
    pub fn context(&self, actor: &str, kind: ProofKind) -> Context {
        let (hand, actor) = (self.clone(), actor.to_owned());
        Context { version: VERSION, hand, actor, kind, position: None, seat: None, deck: None }
    }
}
