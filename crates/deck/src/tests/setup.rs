//! Shufflers, players and their keys for the tests, and hands played between them.

use rand_chacha::ChaCha20Rng;

use super::run::rng;
use crate::{
    Contribution, Curve, Deal, Deck, Destination, HandId, HandKeys, Member, MemberRole, Parameters, SecretKey,
    SeenBlindings, ShuffleMessage, Shuffling,
};

pub const SHUFFLERS: [&str; 3] = ["ann", "ben", "cleo"];
pub const PLAYERS: [&str; 3] = ["dora", "emil", "fay"];

/// A small deck: fast, and everything that can go wrong with 52 cards can go wrong with it.
pub const SMALL: usize = 9;

/// Two hole cards for seats 0, 1 and 2, two cards on the board, one burned.
pub const PLAN: [Destination; SMALL] = [
    Destination::Seat(0),
    Destination::Seat(1),
    Destination::Seat(2),
    Destination::Seat(0),
    Destination::Seat(1),
    Destination::Seat(2),
    Destination::Nowhere,
    Destination::Board,
    Destination::Board,
];

pub struct HandSetup<C: Curve> {
    pub rng: ChaCha20Rng,
    pub parameters: Parameters<C>,
    pub keys: HandKeys<C>,
    pub shufflers: Vec<SecretKey<C>>,
    pub players: Vec<SecretKey<C>>,
}

pub fn hand() -> HandId {
    HandId { deployment: "casino".into(), game: "table-7".into(), hand: "41".into() }
}

/// An admitted member with a key of its own.
pub fn member<C: Curve>(actor: &str, role: MemberRole, rng: &mut ChaCha20Rng) -> (Member<C>, SecretKey<C>) {
    let secret = SecretKey::generate(rng);
    (admit(&hand(), actor, role, &secret, rng), secret)
}

pub fn admit<C: Curve>(
    hand: &HandId,
    actor: &str,
    role: MemberRole,
    secret: &SecretKey<C>,
    rng: &mut ChaCha20Rng,
) -> Member<C> {
    let (key, proof) = secret.register(hand, actor, role, rng);
    Member::admit(hand, actor, role, key, &proof).unwrap()
}

pub fn seated<C: Curve>(rng: &mut ChaCha20Rng) -> (Vec<Member<C>>, Vec<SecretKey<C>>) {
    (0..).zip(PLAYERS).map(|(seat, actor)| member(actor, MemberRole::Player { seat }, rng)).unzip()
}

impl<C: Curve> HandSetup<C> {
    /// Three shufflers and three players with a small deck.
    pub fn small(story: &str) -> Self {
        Self::new(story, SMALL)
    }

    pub fn new(story: &str, size: usize) -> Self {
        let mut rng = rng(story);
        let (members, shufflers): (Vec<_>, _) =
            SHUFFLERS.map(|actor| member(actor, MemberRole::Shuffler, &mut rng)).into_iter().unzip();
        let (seats, players) = seated(&mut rng);
        let keys = HandKeys::new(&hand(), &members, &seats).unwrap();
        Self { parameters: Parameters::with_size(size).unwrap(), keys, shufflers, players, rng }
    }

    /// What the shufflers send when all are honest.
    pub fn shuffles(&mut self) -> Vec<ShuffleMessage<C>> {
        let mut shuffling = Shuffling::new(&self.parameters, &self.keys);
        let mut messages = Vec::new();
        while let Some(message) = shuffling.shuffle(&self.parameters, &mut self.rng) {
            shuffling.accept(&self.parameters, &message).unwrap();
            messages.push(message);
        }
        messages
    }

    pub fn final_deck(&mut self) -> Deck<C> {
        self.shuffles().pop().unwrap().deck
    }

    /// A shuffled deck, nothing dealt.
    pub fn deal(&mut self) -> Deal<C> {
        let deck = self.final_deck();
        Deal::new(&self.keys, &deck, &PLAN, SeenBlindings::default()).unwrap()
    }

    pub fn accept(&self, deal: &mut Deal<C>, contributions: &[Contribution<C>]) {
        deal.accept_all(&self.parameters, contributions).unwrap();
    }

    pub fn blindings(&mut self, deal: &Deal<C>, position: u8) -> Vec<Contribution<C>> {
        let rng = &mut self.rng;
        (0..).zip(&self.shufflers).map(|(index, secret)| deal.blind(index, secret, position, rng).unwrap()).collect()
    }

    pub fn unblindings(&mut self, deal: &Deal<C>, position: u8) -> Vec<Contribution<C>> {
        let rng = &mut self.rng;
        (0..).zip(&self.shufflers).map(|(index, secret)| deal.unblind(index, secret, position, rng).unwrap()).collect()
    }

    pub fn reveals(&mut self, deal: &Deal<C>, position: u8) -> Vec<Contribution<C>> {
        let rng = &mut self.rng;
        (0..).zip(&self.shufflers).map(|(index, secret)| deal.reveal(index, secret, position, rng).unwrap()).collect()
    }

    /// Deals a hole card all the way to its player.
    pub fn deal_to_seat(&mut self, deal: &mut Deal<C>, position: u8) {
        let blindings = self.blindings(deal, position);
        self.accept(deal, &blindings);
        let unblindings = self.unblindings(deal, position);
        self.accept(deal, &unblindings);
    }
}
