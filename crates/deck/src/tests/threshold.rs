//! A quorum instead of all: any two of three open what one cannot.

use ark_ec::AffineRepr;

use super::{
    run::rng,
    setup::{PLAN, SHUFFLERS, SMALL, admit, hand, seated},
};
use crate::{
    Contribution, Deal, DealRefusal, Dealing, DealingError, DealtShare, DeckDecodeError, HandId, HandKeys, KeyError,
    Member, MemberRole, Parameters, Point, PolynomialCommitments, ProofKind, Scalar, SealedShare, Secp256k1, SecretKey,
    SeenBlindings, Shuffling, threshold::lagrange,
};
use rand_chacha::ChaCha20Rng;

type C = Secp256k1;

struct Quorum {
    rng: ChaCha20Rng,
    dealers: Vec<(Member<C>, PolynomialCommitments<C>)>,
    dealings: Vec<Dealing<C>>,
    players: Vec<Member<C>>,
    own: Vec<SecretKey<C>>,
}

impl Quorum {
    /// Three dealers whose polynomials have this degree and one more coefficient.
    fn new(story: &str, quorum: usize) -> Self {
        let mut rng = rng(story);
        let mut dealings = Vec::new();
        let mut dealers = Vec::new();
        for actor in SHUFFLERS {
            let dealing = Dealing::<C>::new(SecretKey::generate(&mut rng), quorum, &mut rng);
            let member = admit(&hand(), actor, MemberRole::Shuffler, dealing.secret(), &mut rng);
            dealers.push((member, dealing.commitments()));
            dealings.push(dealing);
        }
        let (players, own) = seated(&mut rng);
        Self { rng, dealers, dealings, players, own }
    }

    /// The values that a shuffler received from all dealers.
    fn dealt(&self, shuffler: u8) -> Vec<(PolynomialCommitments<C>, DealtShare<C>)> {
        self.dealings.iter().map(|dealing| (dealing.commitments(), dealing.share_for(shuffler))).collect()
    }

    fn secrets(&self) -> Vec<SecretKey<C>> {
        (0..3).map(|shuffler| SecretKey::from_dealt(shuffler, &self.dealt(shuffler)).unwrap()).collect()
    }

    fn keys(&self, quorum: usize, blinders: &[u8]) -> Result<HandKeys<C>, KeyError> {
        HandKeys::threshold(&hand(), &self.dealers, &self.players, quorum, blinders)
    }
}

#[test]
fn any_quorum_has_the_key_and_fewer_have_nothing() {
    let table = Quorum::new("lagrange", 2);
    let (keys, secrets) = (table.keys(2, &[0, 1]).unwrap(), table.secrets());
    for ((_, key), secret) in keys.shufflers().iter().zip(&secrets) {
        assert_eq!(
            key,
            secret.public(),
            "a shuffler's share belongs to the key that its contributions are checked against"
        );
    }
    let combined = |shufflers: &[u8]| {
        let weights: Vec<Scalar<C>> = lagrange(shufflers);
        let shares = shufflers.iter().map(|shuffler| *secrets[usize::from(*shuffler)].scalar());
        let secret: Scalar<C> = shares.zip(weights).map(|(share, weight)| share * weight).sum();
        Point::<C>::from(Point::<C>::generator() * secret)
    };
    for quorum in [&[0, 1][..], &[0, 2], &[1, 2], &[2, 0], &[0, 1, 2]] {
        assert_eq!(combined(quorum), *keys.aggregate().point(), "{quorum:?}");
    }
    assert_ne!(combined(&[0]), *keys.aggregate().point());
}

#[test]
fn a_hand_goes_on_without_the_third_shuffler() {
    let mut table = Quorum::new("without the third", 2);
    let (keys, secrets) = (table.keys(2, &[0, 1]).unwrap(), table.secrets());
    let parameters = Parameters::<C>::with_size(SMALL).unwrap();
    let mut shuffling = Shuffling::new(&parameters, &keys);
    while let Some(message) = shuffling.shuffle(&parameters, &mut table.rng) {
        shuffling.accept(&parameters, &message).unwrap();
    }
    let deck = shuffling.finished().unwrap();
    // Each pair, after the shuffle, deals the same cards.
    let mut dealt = Vec::new();
    for pair in [[0, 1], [1, 2], [2, 0]] {
        let mut deal = Deal::new(&keys, &deck, &PLAN, SeenBlindings::default()).unwrap();
        for shuffler in [0, 1] {
            let blinding = deal.blind(shuffler, &secrets[usize::from(shuffler)], 0, &mut table.rng).unwrap();
            deal.accept(&parameters, &blinding).unwrap();
        }
        let refused = deal.blind(2, &secrets[2], 0, &mut table.rng);
        assert_eq!(refused, Err(DealRefusal::NotABlinder { shuffler: 2 }));
        for shuffler in pair {
            let secret = &secrets[usize::from(shuffler)];
            let contributions: [Contribution<C>; 2] = [
                deal.unblind(shuffler, secret, 0, &mut table.rng).unwrap(),
                deal.reveal(shuffler, secret, 8, &mut table.rng).unwrap(),
            ];
            deal.accept_all(&parameters, &contributions).unwrap();
        }
        assert_eq!((deal.awaited(0), deal.awaited(8)), (vec![], vec![]));
        dealt.push((deal.own_card(&parameters, 0, &table.own[0], 0).unwrap(), deal.opened(8).unwrap()));
        // The third may still contribute, which changes nothing.
        let third = 3 - pair[0] - pair[1];
        let late = deal.reveal(third, &secrets[usize::from(third)], 8, &mut table.rng).unwrap();
        deal.accept(&parameters, &late).unwrap();
        assert_eq!(deal.opened(8), Some(dealt[dealt.len() - 1].1));
        assert_eq!(deal.awaited(1), [(0, ProofKind::Blinding), (1, ProofKind::Blinding)]);
    }
    assert!(dealt.iter().all(|cards| *cards == dealt[0]), "{dealt:?}");
    assert_ne!(dealt[0].0, dealt[0].1);
}

#[test]
fn a_share_travels_sealed_to_its_receiver_only() {
    let mut table = Quorum::new("sealed shares", 2);
    let receiver = *table.dealings[1].secret().public();
    let sealed = table.dealings[0].seal_for(&hand(), "ann", 1, &receiver, &mut table.rng);
    let sealed = SealedShare::<C>::decode(&sealed.encode()).unwrap();
    let opens = |hand: &HandId, dealer: &str, shuffler, secret: &SecretKey<C>| {
        let share = sealed.open(hand, dealer, shuffler, secret);
        share.encode() == table.dealings[0].share_for(1).encode()
    };
    let ben = table.dealings[1].secret();
    assert!(opens(&hand(), "ann", 1, ben));
    assert!(!opens(&hand(), "ann", 1, table.dealings[2].secret()), "not for cleo");
    assert!(!opens(&hand(), "cleo", 1, ben), "not from cleo");
    assert!(!opens(&hand(), "ann", 2, ben));
    assert!(!opens(&HandId { hand: "42".into(), ..hand() }, "ann", 1, ben));
    let again = table.dealings[0].seal_for(&hand(), "ann", 1, &receiver, &mut table.rng);
    assert_ne!(again, sealed, "the same share looks different each time");
}

#[test]
fn a_value_that_is_not_on_the_polynomial_names_its_dealer() {
    let table = Quorum::new("wrong value", 2);
    let mut dealt = table.dealt(1);
    dealt[2].1 = table.dealings[2].share_for(0);
    assert_eq!(SecretKey::from_dealt(1, &dealt).err(), Some(DealingError::WrongShare { dealer: 2 }));
    assert_eq!(SecretKey::<C>::from_dealt(1, &[]).err(), Some(DealingError::Nothing));
    assert_eq!(PolynomialCommitments::<C>::decode(&[], 0), Err(DeckDecodeError::Length { expected: 33, found: 0 }));
}

#[test]
fn a_quorum_that_cannot_be_is_refused() {
    let table = Quorum::new("refused quorum", 2);
    let refusal = |quorum, blinders: &[u8]| table.keys(quorum, blinders).unwrap_err();
    assert_eq!(refusal(0, &[0, 1]), KeyError::Quorum { quorum: 0, shufflers: 3 });
    assert_eq!(refusal(4, &[0, 1]), KeyError::Quorum { quorum: 4, shufflers: 3 });
    assert_eq!(refusal(3, &[0, 1, 2]), KeyError::WrongCommitments { actor: "ann".into() }, "polynomials for two");
    assert_eq!(refusal(2, &[0]), KeyError::Blinders, "fewer than the quorum");
    assert_eq!(refusal(2, &[1, 0]), KeyError::Blinders, "not in order");
    assert_eq!(refusal(2, &[1, 1]), KeyError::Blinders, "one twice");
    assert_eq!(refusal(2, &[1, 3]), KeyError::Blinders, "there is no fourth shuffler");
    let mut exchanged = Quorum::new("refused quorum", 2);
    exchanged.dealers[1].1 = exchanged.dealers[0].1.clone();
    assert_eq!(exchanged.keys(2, &[0, 1]).unwrap_err(), KeyError::WrongCommitments { actor: "ben".into() });
}
