//! All keys of a hand together, and what follows from them.
//!
//! Guarantees: every key was admitted to this hand with a proof, no key or seat occurs twice, neither the aggregate key
//! nor any key that hole cards are blinded under is the identity. With [`HandKeys::new`] the deck opens only if all
//! shufflers take part; with [`HandKeys::threshold`] a quorum suffices, which is then also all that has to collude.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;

use crate::{
    Context, Curve, HandId, Member, MemberRole, PolynomialCommitments, ProofKind, PublicKey,
    curve::{Point, Scalar},
    threshold::lagrange,
};

/// Why these keys cannot play a hand: the first broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The proof of possession does not hold for this key, name, role and hand.
    #[error("{actor} does not prove possession of the registered key")]
    NotPossessed { actor: String },
    /// No shufflers, or more than 255.
    #[error("a hand has 1 to 255 shufflers, not {count}")]
    ShufflerCount { count: usize },
    /// Admitted to another hand.
    #[error("the key of {actor} was admitted to another hand")]
    WrongHand { actor: String },
    /// Admitted as something else.
    #[error("the key of {actor} was admitted for another role")]
    WrongRole { actor: String },
    /// One name twice among the shufflers or the players, or one seat twice.
    #[error("{actor} occurs twice")]
    DuplicateActor { actor: String },
    /// One key twice, of whatever role.
    #[error("{actor} uses a key that is already registered")]
    DuplicateKey { actor: String },
    /// The shufflers' keys cancel each other.
    #[error("the sum of the shufflers' keys is the identity")]
    AggregateIsIdentity,
    /// In threshold sharing, a shuffler's share of the key is zero.
    #[error("the share of {actor} is zero")]
    ShareIsIdentity { actor: String },
    /// A player's key cancels the aggregate.
    #[error("the key of seat {seat} cancels the shufflers' keys")]
    SeatIsIdentity { seat: u8 },
    /// The commitments are not for the registered key, or not as many as the quorum.
    #[error("the commitments of {actor} do not fit its key and the quorum")]
    WrongCommitments { actor: String },
    /// Not between one and the number of shufflers.
    #[error("a quorum of {quorum} among {shufflers}")]
    Quorum { quorum: usize, shufflers: usize },
    /// The blinders are fewer than the quorum, not shufflers, or not in ascending order.
    #[error("the shufflers that blind are not a quorum in ascending order")]
    Blinders,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandKeys<C: Curve> {
    hand: HandId,
    shufflers: Vec<(String, PublicKey<C>)>,
    players: Vec<(Member<C>, Point<C>)>,
    aggregate: PublicKey<C>,
    quorum: Option<usize>,
    blinders: Vec<u8>,
}

impl<C: Curve> HandKeys<C> {
    /// Keys that open the deck only all together. The order of the shufflers is the order in which they shuffle.
    ///
    /// # Errors
    /// The first rule that the keys break.
    pub fn new(hand: &HandId, shufflers: &[Member<C>], players: &[Member<C>]) -> Result<Self, KeyError> {
        let count = members(hand, shufflers, players)?;
        let aggregate = C::sum_of(&mut shufflers.iter().map(|shuffler| *shuffler.key().point())).affine();
        let shufflers = shufflers.iter().map(|shuffler| (shuffler.actor().to_owned(), *shuffler.key())).collect();
        Self::assemble(hand, shufflers, players, aggregate, None, (0..count).collect())
    }

    /// Keys of which a quorum opens the deck. Each shuffler registered the constant term of its polynomial as its key;
    /// `blinders` are those, at least a quorum, whose contributions each hole card needs.
    ///
    /// # Errors
    /// The first rule that the keys break.
    pub fn threshold(
        hand: &HandId,
        dealers: &[(Member<C>, PolynomialCommitments<C>)],
        players: &[Member<C>],
        quorum: usize,
        blinders: &[u8],
    ) -> Result<Self, KeyError> {
        let members_only: Vec<Member<C>> = dealers.iter().map(|(member, _)| member.clone()).collect();
        let count = members(hand, &members_only, players)?;
        if quorum == 0 || quorum > dealers.len() {
            return Err(KeyError::Quorum { quorum, shufflers: dealers.len() });
        }
        let fits = |(member, commitments): &&(Member<C>, PolynomialCommitments<C>)| {
            commitments.constant() == *member.key() && commitments.quorum() == quorum
        };
        if let Some((member, _)) = dealers.iter().find(|dealer| !fits(dealer)) {
            return Err(KeyError::WrongCommitments { actor: member.actor().to_owned() });
        }
        let ascending = blinders.is_sorted_by(|one, next| one < next);
        if blinders.len() < quorum || !ascending || blinders.last().is_some_and(|last| *last >= count) {
            return Err(KeyError::Blinders);
        }
        let aggregate = C::sum_of(&mut members_only.iter().map(|dealer| *dealer.key().point())).affine();
        let mut shufflers = Vec::new();
        for (index, member) in (0..count).zip(&members_only) {
            let key = dealers.iter().map(|(_, commitments)| commitments.at(index)).sum::<C>().affine();
            if key.is_zero() {
                return Err(KeyError::ShareIsIdentity { actor: member.actor().to_owned() });
            }
            shufflers.push((member.actor().to_owned(), PublicKey(key)));
        }
        Self::assemble(hand, shufflers, players, aggregate, Some(quorum), blinders.to_vec())
    }

    fn assemble(
        hand: &HandId,
        shufflers: Vec<(String, PublicKey<C>)>,
        players: &[Member<C>],
        aggregate: Point<C>,
        quorum: Option<usize>,
        blinders: Vec<u8>,
    ) -> Result<Self, KeyError> {
        if aggregate.is_zero() {
            return Err(KeyError::AggregateIsIdentity);
        }
        let mut seated = Vec::new();
        for player in players {
            let blinding_key = C::sum_of(&mut [aggregate, *player.key().point()].into_iter()).affine();
            if let Some(seat) = player.role().seat().filter(|_| blinding_key.is_zero()) {
                return Err(KeyError::SeatIsIdentity { seat });
            }
            seated.push((player.clone(), blinding_key));
        }
        let aggregate = PublicKey(aggregate);
        Ok(Self { hand: hand.clone(), shufflers, players: seated, aggregate, quorum, blinders })
    }

    #[must_use]
    pub const fn hand(&self) -> &HandId {
        &self.hand
    }

    /// The key that the deck is encrypted under.
    #[must_use]
    pub const fn aggregate(&self) -> &PublicKey<C> {
        &self.aggregate
    }

    /// The shufflers in their order: names, and the keys that their shares are checked against.
    #[must_use]
    pub fn shufflers(&self) -> &[(String, PublicKey<C>)] {
        &self.shufflers
    }

    #[must_use]
    pub fn player(&self, seat: u8) -> Option<&Member<C>> {
        self.seated(seat).map(|(player, _)| player)
    }

    /// The key that the cards of a seat are blinded under: the aggregate plus the player's own.
    #[must_use]
    pub fn blinding_key(&self, seat: u8) -> Option<&Point<C>> {
        self.seated(seat).map(|(_, key)| key)
    }

    fn seated(&self, seat: u8) -> Option<&(Member<C>, Point<C>)> {
        self.players.iter().find(|(player, _)| player.role() == MemberRole::Player { seat })
    }

    /// How many shares open a card.
    #[must_use]
    pub fn quorum(&self) -> usize {
        self.quorum.unwrap_or(self.shufflers.len())
    }

    /// The shufflers whose blinding each hole card needs.
    #[must_use]
    pub fn blinders(&self) -> &[u8] {
        &self.blinders
    }

    /// The context of a shuffle: it belongs to one shuffler and one step.
    #[must_use]
    pub fn shuffle_context(&self, step: u8) -> Option<Context> {
        let (actor, _) = self.shufflers.get(usize::from(step))?;
        Some(Context { position: Some(step), ..self.hand.context(actor, ProofKind::Shuffle) })
    }

    /// What the shares of these shufflers are multiplied with before they are added up.
    pub(crate) fn weights(&self, shufflers: &[u8]) -> Vec<Scalar<C>> {
        match self.quorum {
            None => vec![Scalar::<C>::from(1_u8); shufflers.len()],
            Some(_) => lagrange(shufflers),
        }
    }
}

/// Checks what holds for each member alone and between them; how many shufflers there are.
fn members<C: Curve>(hand: &HandId, shufflers: &[Member<C>], players: &[Member<C>]) -> Result<u8, KeyError> {
    let none_or_many = KeyError::ShufflerCount { count: shufflers.len() };
    let count = u8::try_from(shufflers.len()).ok().filter(|count| *count > 0).ok_or(none_or_many)?;
    let all = || shufflers.iter().chain(players);
    let actor = |member: &Member<C>| member.actor().to_owned();
    if let Some(member) = all().find(|member| member.hand() != hand) {
        return Err(KeyError::WrongHand { actor: actor(member) });
    }
    let is_shuffler = |member: &Member<C>| member.role() == MemberRole::Shuffler;
    let wrong =
        shufflers.iter().find(|member| !is_shuffler(member)).or(players.iter().find(|member| is_shuffler(member)));
    if let Some(member) = wrong {
        return Err(KeyError::WrongRole { actor: actor(member) });
    }
    let same_actor = |one: &Member<C>, two: &Member<C>| one.actor() == two.actor();
    let same_place = |one: &Member<C>, two: &Member<C>| one.role() == two.role() || same_actor(one, two);
    if let Some(member) = repeated(shufflers.iter(), same_actor).or(repeated(players.iter(), same_place)) {
        return Err(KeyError::DuplicateActor { actor: actor(member) });
    }
    if let Some(member) = repeated(all(), |one, two| one.key() == two.key()) {
        return Err(KeyError::DuplicateKey { actor: actor(member) });
    }
    Ok(count)
}

/// The first that is the same as one before it.
fn repeated<'a, C: Curve>(
    members: impl Iterator<Item = &'a Member<C>>,
    same: impl Fn(&Member<C>, &Member<C>) -> bool,
) -> Option<&'a Member<C>> {
    let mut before: Vec<&Member<C>> = Vec::new();
    for member in members {
        if before.iter().any(|one| same(one, member)) {
            return Some(member);
        }
        before.push(member);
    }
    None
}
