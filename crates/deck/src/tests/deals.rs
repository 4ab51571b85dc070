//! Deals: cards reach one player, or all, and only as the plan says.

use ark_ec::AffineRepr;
use rand_chacha::rand_core::RngCore;

use super::{
    run::{rng, rounds},
    setup::{HandSetup, PLAN, PLAYERS, SHUFFLERS, SMALL, admit, hand, member},
};
use crate::{
    Blinding, Bn254, Context, Contribution, ContributionRefusal, Curve, Deal, DealRefusal, Deck, DeckCard,
    DeckDecodeError, Destination, Grumpkin, HandId, HandKeys, MemberRole, Parameters, PlanError, Point, ProofKind,
    Scalar, Secp256k1, SecretKey, SeenBlindings, Shuffling,
    shuffle::{Permutation, Witness, shuffle},
};

type C = Secp256k1;

fn whole_hand<C: Curve>() {
    let mut table = HandSetup::<C>::small("whole hand");
    let mut deal = table.deal();
    let mut cards = Vec::new();
    for position in 0..6 {
        table.deal_to_seat(&mut deal, position);
        let seat = position % 3;
        let secret = &table.players[usize::from(seat)];
        let card = deal.own_card(&table.parameters, seat, secret, position).unwrap();
        assert_eq!(deal.opened(position), None, "only the player sees it");
        let show = deal.show(seat, secret, position, &mut table.rng).unwrap();
        table.accept(&mut deal, &[show]);
        assert_eq!(deal.opened(position), Some(card), "the player shows the same card");
        cards.push(card);
    }
    for position in 7..9 {
        let reveals = table.reveals(&deal, position);
        table.accept(&mut deal, &reveals);
        cards.push(deal.opened(position).unwrap());
    }
    cards.sort_unstable();
    cards.dedup();
    assert_eq!(cards.len(), 8, "{}: all different", C::NAME);
}

#[test]
fn a_whole_hand_on_every_curve() {
    whole_hand::<Secp256k1>();
    whole_hand::<Bn254>();
    whole_hand::<Grumpkin>();
}

#[test]
fn a_player_cannot_read_anothers_card() {
    let mut table = HandSetup::<C>::small("anothers card");
    let mut deal = table.deal();
    table.deal_to_seat(&mut deal, 0);
    let [dora, emil, _] = &table.players[..] else { panic!() };
    let look = |seat, secret| deal.own_card(&table.parameters, seat, secret, 0);
    assert!(look(0, dora).is_ok());
    assert_eq!(look(1, emil), Err(DealRefusal::WrongSeat { position: 0, seat: 1 }));
    assert_eq!(look(0, emil), Err(DealRefusal::WrongKey));
    // The mathematics says the same: with another key, no card comes out.
    assert_eq!(table.parameters.card(&deal.sealed(0).unwrap().for_player(emil)), None);
}

#[test]
fn shares_wait_for_all_blindings() {
    let mut table = HandSetup::<C>::small("too early");
    let mut deal = table.deal();
    let early = Err(DealRefusal::TooEarly { position: 0 });
    let blindings = table.blindings(&deal, 0);
    table.accept(&mut deal, &blindings[..2]);
    assert_eq!(deal.unblind(0, &table.shufflers[0], 0, &mut table.rng), early);
    assert_eq!(deal.awaited(0), [(2, ProofKind::Blinding)]);
    table.accept(&mut deal, &blindings[2..]);
    assert_eq!(deal.awaited(0), [(0, ProofKind::Unblinding), (1, ProofKind::Unblinding), (2, ProofKind::Unblinding)]);
    let unblindings = table.unblindings(&deal, 0);
    table.accept(&mut deal, &unblindings[1..]);
    assert_eq!(deal.awaited(0), [(0, ProofKind::Unblinding)], "who is missing is known");
    assert_eq!(deal.own_card(&table.parameters, 0, &table.players[0], 0), Err(DealRefusal::TooEarly { position: 0 }));
    assert_eq!(deal.show(0, &table.players[0], 0, &mut table.rng), early);
    table.accept(&mut deal, &unblindings[..1]);
    assert_eq!(deal.awaited(0), []);
    assert!(deal.own_card(&table.parameters, 0, &table.players[0], 0).is_ok());
}

#[test]
fn only_what_the_plan_opens_can_be_opened() {
    let mut table = HandSetup::<C>::small("plan");
    let deal = table.deal();
    let (ann, dora, rng) = (&table.shufflers[0], &table.players[0], &mut table.rng);
    let wrong = |position| Err(DealRefusal::WrongDestination { position });
    assert_eq!(deal.reveal(0, ann, 0, rng), wrong(0), "a hole card is no community card");
    assert_eq!(deal.reveal(0, ann, 6, rng), wrong(6), "a burned card stays burned");
    assert_eq!(deal.blind(0, ann, 6, rng), wrong(6));
    assert_eq!(deal.blind(0, ann, 7, rng), wrong(7), "a community card belongs to no seat");
    assert_eq!(deal.unblind(0, ann, 7, rng), wrong(7));
    assert_eq!(deal.show(0, dora, 7, rng), wrong(7));
    assert_eq!(deal.show(0, dora, 1, rng), Err(DealRefusal::WrongSeat { position: 1, seat: 0 }));
    assert_eq!(deal.blind(0, ann, 9, rng), Err(DealRefusal::NoSuchPosition { position: 9 }));
    assert_eq!(deal.blind(3, ann, 0, rng), Err(DealRefusal::NoSuchShuffler { shuffler: 3 }));
    assert_eq!(deal.blind(1, ann, 0, rng), Err(DealRefusal::WrongKey));
}

#[test]
fn nothing_counts_twice() {
    let mut table = HandSetup::<C>::small("twice");
    let mut deal = table.deal();
    let repeated = |position| Err(DealRefusal::Repeated { position });
    let blindings = table.blindings(&deal, 0);
    let again = table.blindings(&deal, 0);
    table.accept(&mut deal, &blindings);
    assert_eq!(deal.accept(&table.parameters, &again[0]), repeated(0), "a second blinding by the same shuffler");
    let unblindings = table.unblindings(&deal, 0);
    table.accept(&mut deal, &unblindings);
    assert_eq!(deal.accept(&table.parameters, &unblindings[1]), repeated(0));
    let show = deal.show(0, &table.players[0], 0, &mut table.rng).unwrap();
    table.accept(&mut deal, &[show]);
    assert_eq!(deal.accept(&table.parameters, &show), repeated(0));
}

#[test]
fn a_plan_has_a_destination_for_every_card_and_a_player_at_every_seat() {
    let mut table = HandSetup::<C>::small("plan refused");
    let deck = table.final_deck();
    let refusal = |plan: &[Destination]| Deal::new(&table.keys, &deck, plan, SeenBlindings::default()).unwrap_err();
    assert_eq!(refusal(&PLAN[1..]), PlanError::Length { expected: 9, found: 8 });
    let mut plan = PLAN;
    plan[4] = Destination::Seat(3);
    assert_eq!(refusal(&plan), PlanError::EmptySeat { position: 4, seat: 3 });
}

/// A contribution to one card, replayed by another party for another card.
#[test]
fn contributions_cannot_be_moved() {
    let mut table = HandSetup::<C>::small("moved");
    let mut deal = table.deal();
    let (at_0, at_3) = (table.blindings(&deal, 0), table.blindings(&deal, 3));
    let [Contribution::Blinding { blinding, .. }, ..] = at_3[..] else { panic!() };
    let not_proven = |position| Err(DealRefusal::NotProven { position });
    let moved = Contribution::Blinding { shuffler: 0, position: 0, blinding };
    assert_eq!(deal.accept(&table.parameters, &moved), not_proven(0), "another card of the same seat");
    let moved = Contribution::Blinding { shuffler: 1, position: 3, blinding };
    assert_eq!(deal.accept(&table.parameters, &moved), not_proven(3), "a neighbour's contribution");
    table.accept(&mut deal, &at_0);
    table.accept(&mut deal, &at_3);
    let (at_0, at_3) = (table.unblindings(&deal, 0), table.unblindings(&deal, 3));
    let [Contribution::Unblinding { share, .. }, ..] = at_0[..] else { panic!() };
    let moved = Contribution::Unblinding { shuffler: 0, position: 3, share };
    assert_eq!(deal.accept(&table.parameters, &moved), not_proven(3));
    let moved = Contribution::Unblinding { shuffler: 2, position: 0, share };
    assert_eq!(deal.accept(&table.parameters, &moved), not_proven(0));
    table.accept(&mut deal, &[at_0, at_3].concat());
    let Contribution::Showdown { share, .. } = deal.show(0, &table.players[0], 0, &mut table.rng).unwrap() else {
        panic!()
    };
    let moved = Contribution::Showdown { seat: 0, position: 3, share };
    assert_eq!(deal.accept(&table.parameters, &moved), not_proven(3), "the player's other card");
}

#[test]
fn another_deck_or_another_hand_takes_nothing_of_this_one() {
    let mut table = HandSetup::<C>::small("other hand");
    let deck = table.final_deck();
    let deal = Deal::new(&table.keys, &deck, &PLAN, SeenBlindings::default()).unwrap();
    let mut other_deck = table.deal();
    let (share, blinding) = (table.reveals(&deal, 7)[0], table.blindings(&deal, 0)[0]);
    assert_eq!(other_deck.accept(&table.parameters, &share), Err(DealRefusal::NotProven { position: 7 }));
    assert_eq!(other_deck.accept(&table.parameters, &blinding), Err(DealRefusal::NotProven { position: 0 }));
    // The same members with the same keys and the same deck, which is already a mistake, in the next hand.
    let next = HandId { hand: "42".into(), ..hand() };
    let rng = &mut table.rng;
    let secrets = SHUFFLERS.iter().zip(&table.shufflers);
    let shufflers: Vec<_> =
        secrets.map(|(actor, secret)| admit(&next, actor, MemberRole::Shuffler, secret, rng)).collect();
    let secrets = (0..).zip(PLAYERS).zip(&table.players);
    let role = |seat| MemberRole::Player { seat };
    let players: Vec<_> = secrets.map(|((seat, actor), secret)| admit(&next, actor, role(seat), secret, rng)).collect();
    let keys = HandKeys::new(&next, &shufflers, &players).unwrap();
    let mut next = Deal::new(&keys, &deck, &PLAN, SeenBlindings::default()).unwrap();
    assert_eq!(next.accept(&table.parameters, &share), Err(DealRefusal::NotProven { position: 7 }));
    assert_eq!(next.accept(&table.parameters, &blinding), Err(DealRefusal::NotProven { position: 0 }));
}

/// Shufflers that share their secrets, and choose them so that they cancel.
#[test]
fn blindings_that_cancel_are_refused() {
    let mut table = HandSetup::<C>::small("cancelling blindings");
    let witness = Witness::<C>::random(SMALL, &mut table.rng);
    let deck = shuffle(table.keys.aggregate(), &table.parameters.first_deck(), &witness);
    let (one, two) = (Scalar::<C>::from(11_u8), Scalar::<C>::from(22_u8));
    // In the sum of the blindings, or in the sum with the card's own randomness.
    for last in [-(one + two), -(one + two + witness.randomness[0])] {
        let mut deal = Deal::new(&table.keys, &deck, &PLAN, SeenBlindings::default()).unwrap();
        for (shuffler, delta, verdict) in
            [(0, one, Ok(())), (1, two, Ok(())), (2, last, Err(DealRefusal::Degenerate { position: 0 }))]
        {
            let context = context(&deal, SHUFFLERS[usize::from(shuffler)], 0);
            let key = *table.keys.blinding_key(0).unwrap();
            let blinding = Blinding::<C>::with(&context, &key, &delta, &mut table.rng);
            let contribution = Contribution::Blinding { shuffler, position: 0, blinding };
            assert_eq!(deal.accept(&table.parameters, &contribution), verdict);
        }
    }
}

#[test]
fn no_blinding_at_all_is_refused() {
    let mut table = HandSetup::<C>::small("no blinding");
    let mut deal = table.deal();
    let key = *table.keys.blinding_key(0).unwrap();
    let none = Scalar::<C>::from(0_u8);
    let blinding = Blinding::<C>::with(&context(&deal, "ann", 0), &key, &none, &mut table.rng);
    assert!(blinding.point().is_zero());
    let contribution = Contribution::Blinding { shuffler: 0, position: 0, blinding };
    assert_eq!(deal.accept(&table.parameters, &contribution), Err(DealRefusal::NotProven { position: 0 }));
    assert_eq!(Blinding::<C>::decode(&blinding.encode()), Err(DeckDecodeError::Identity { offset: 0 }));
}

/// A deck that was taken without a proof is still found out when it is opened.
#[test]
fn a_card_twice_or_none_is_noticed_when_it_is_opened() {
    let mut table = HandSetup::<C>::small("deck of lies");
    let mut witness = Witness::<C>::random(SMALL, &mut table.rng);
    witness.order = Permutation::of(vec![4; SMALL]);
    let mut cards = shuffle(table.keys.aggregate(), &table.parameters.first_deck(), &witness).cards().to_vec();
    let mut plan = [Destination::Board; SMALL];
    plan[0] = Destination::Seat(0);
    cards[8].c2 = Point::<C>::generator();
    let mut deal = Deal::new(&table.keys, &Deck::of(cards), &plan, SeenBlindings::default()).unwrap();
    let reveals = table.reveals(&deal, 3);
    table.accept(&mut deal, &reveals);
    assert_eq!(deal.opened(3), Some(4));
    let (twice, none) = (table.reveals(&deal, 5), table.reveals(&deal, 8));
    let duplicate = DealRefusal::DuplicateCard { card: 4, position: 5, first: 3 };
    let refused = deal.accept_all(&table.parameters, &twice);
    assert_eq!(refused, Err(ContributionRefusal { index: 2, refusal: duplicate }));
    let refused = deal.accept_all(&table.parameters, &none);
    assert_eq!(refused, Err(ContributionRefusal { index: 2, refusal: DealRefusal::NotACard { position: 8 } }));
}

fn context(deal: &Deal<C>, actor: &str, position: u8) -> Context {
    let (position, seat, deck) = (Some(position), Some(position % 3), Some(*deal.deck()));
    Context { position, seat, deck, ..hand().context(actor, ProofKind::Blinding) }
}

#[test]
fn the_culprit_of_a_batch_is_named_and_nothing_is_taken() {
    let mut table = HandSetup::<C>::small("deal batch");
    let mut deal = table.deal();
    let mut batch: Vec<_> = (0..6).flat_map(|position| table.blindings(&deal, position)).collect();
    let Contribution::Blinding { blinding: honest, .. } = batch[11] else { panic!() };
    let mut bad = honest;
    bad.b = bad.a;
    batch[11] = Contribution::Blinding { shuffler: 2, position: 3, blinding: bad };
    let refused = deal.accept_all(&table.parameters, &batch);
    assert_eq!(refused, Err(ContributionRefusal { index: 11, refusal: DealRefusal::NotProven { position: 3 } }));
    assert_eq!(deal.awaited(0).len(), 3, "not even the ones before it");
    // Something cheap is wrong later: the first is still the one that is named.
    batch[14] = batch[13];
    assert_eq!(deal.accept_all(&table.parameters, &batch).unwrap_err().index, 11);
    batch[11] = Contribution::Blinding { shuffler: 2, position: 3, blinding: honest };
    let refused = deal.accept_all(&table.parameters, &batch);
    assert_eq!(refused, Err(ContributionRefusal { index: 14, refusal: DealRefusal::Repeated { position: 4 } }));
}

/// The operator checks proofs on other threads than its worker, which then only takes them.
#[test]
fn a_contribution_checked_elsewhere_is_taken_once_in_its_own_place() {
    let mut table = HandSetup::<C>::small("checked elsewhere");
    let mut deal = table.deal();
    let blindings = table.blindings(&deal, 0);
    let proven: Vec<_> = blindings.iter().map(|blinding| deal.check(blinding).unwrap()).collect();
    let Contribution::Blinding { blinding, .. } = blindings[0] else { panic!() };
    let moved = Contribution::Blinding { shuffler: 0, position: 3, blinding };
    assert_eq!(deal.check(&moved), Err(DealRefusal::NotProven { position: 3 }));
    let mut other_deck = table.deal();
    assert_eq!(other_deck.take(&table.parameters, &proven[0]), Err(DealRefusal::NotProven { position: 0 }));
    for proven in &proven {
        deal.take(&table.parameters, proven).unwrap();
    }
    assert!(deal.blinded(0).is_some());
    assert_eq!(deal.take(&table.parameters, &proven[0]), Err(DealRefusal::Repeated { position: 0 }));
}

#[test]
fn a_blinding_counts_once_in_a_hand_and_across_hands() {
    let mut table = HandSetup::<C>::small("blinding reuse");
    let deck = table.final_deck();
    let mut deal = Deal::new(&table.keys, &deck, &PLAN, SeenBlindings::default()).unwrap();
    let delta = Scalar::<C>::from(77_u8);
    // A shuffler that draws its blinding secret once and proves correctly with it for each card.
    let contexts = [0, 3].map(|position| context(&deal, "ann", position));
    let reused = |table: &mut HandSetup<C>, position, delta| {
        let key = *table.keys.blinding_key(0).unwrap();
        let context = &contexts[usize::from(position) / 3];
        let blinding = Blinding::<C>::with(context, &key, &delta, &mut table.rng);
        Contribution::Blinding { shuffler: 0, position, blinding }
    };
    let (first, second) = (reused(&mut table, 0, delta), reused(&mut table, 3, delta));
    table.accept(&mut deal, &[first]);
    assert_eq!(deal.accept(&table.parameters, &second), Err(DealRefusal::BlindingReused { position: 3 }));
    // The shuffler's own key as blinding, as a demonstration once did.
    let key = *table.shufflers[0].scalar();
    let with_key = reused(&mut table, 3, key);
    assert_eq!(deal.accept(&table.parameters, &with_key), Err(DealRefusal::BlindingReused { position: 3 }));
    // The next hand remembers.
    let mut next = Deal::new(&table.keys, &deck, &PLAN, deal.seen_blindings().clone()).unwrap();
    assert_eq!(next.accept(&table.parameters, &second), Err(DealRefusal::BlindingReused { position: 3 }));
    let mut kept = SeenBlindings::default();
    for point in deal.seen_blindings().iter() {
        assert!(kept.remember(point.to_vec()));
    }
    assert_eq!(kept, *deal.seen_blindings(), "an index over hands can be kept as bytes");
}

#[test]
fn blindings_differ_even_if_the_generator_repeats_itself() {
    let mut table = HandSetup::<C>::small("repeating generator");
    let deal = table.deal();
    let blind = |position| {
        let contribution = deal.blind(0, &table.shufflers[0], position, &mut rng("the same")).unwrap();
        let Contribution::Blinding { blinding, .. } = contribution else { panic!() };
        *blinding.point()
    };
    assert_ne!(blind(0), blind(3));
}

/// One to four shufflers, one to four players, one to three cards each and some on the board, in any order that works.
#[test]
fn any_order_of_contributions_deals_the_same_distinct_cards() {
    let mut rng = rng("any order");
    let parameters = Parameters::<C>::with_size(13).unwrap();
    for round in rounds(6) {
        let mut below = |bound: u32| rng.next_u32() % bound;
        let (shufflers, players, each) = (1 + below(4) as usize, 1 + below(4) as u8, 1 + below(3) as u8);
        let board = below(2) as u8 + 12 - players * each;
        let mut plan = vec![Destination::Nowhere; 13];
        for (position, place) in (0..13).zip(&mut plan) {
            if position < players * each {
                *place = Destination::Seat(position % players);
            } else if position < players * each + board.min(3) {
                *place = Destination::Board;
            }
        }
        let (members, secrets): (Vec<_>, Vec<SecretKey<C>>) =
            (0..shufflers).map(|shuffler| member(&format!("s{shuffler}"), MemberRole::Shuffler, &mut rng)).unzip();
        let (seats, own): (Vec<_>, Vec<SecretKey<C>>) =
            (0..players).map(|seat| member(&format!("p{seat}"), MemberRole::Player { seat }, &mut rng)).unzip();
        let keys = HandKeys::new(&hand(), &members, &seats).unwrap();
        let mut shuffling = Shuffling::new(&parameters, &keys);
        while let Some(message) = shuffling.shuffle(&parameters, &mut rng) {
            shuffling.accept(&parameters, &message).unwrap();
        }
        let deck = shuffling.finished().unwrap();
        let mut deal = Deal::new(&keys, &deck, &plan, SeenBlindings::default()).unwrap();
        let mut sorted = deal.clone();
        let mut contributions = Vec::new();
        // An awaited shuffler, picked at random, contributes until none is awaited.
        loop {
            let due = |position| deal.awaited(position).into_iter().map(move |(who, kind)| (position, who, kind));
            let due: Vec<(u8, u8, ProofKind)> = (0..13).flat_map(due).collect();
            if due.is_empty() {
                break;
            }
            let (position, who, kind) = due[rng.next_u32() as usize % due.len()];
            let secret = &secrets[usize::from(who)];
            let contribution = match kind {
                ProofKind::Blinding => deal.blind(who, secret, position, &mut rng),
                ProofKind::Unblinding => deal.unblind(who, secret, position, &mut rng),
                _ => deal.reveal(who, secret, position, &mut rng),
            };
            contributions.push(contribution.unwrap());
            deal.accept(&parameters, &contributions[contributions.len() - 1]).unwrap();
        }
        // All blindings first, then the rest from the last card to the first: the state is the same.
        let is_blinding = |contribution: &Contribution<C>| contribution.kind() == ProofKind::Blinding;
        contributions
            .sort_by_key(|contribution| (!is_blinding(contribution), std::cmp::Reverse(contribution.position())));
        sorted.accept_all(&parameters, &contributions).unwrap();
        assert_eq!(sorted, deal, "round {round}");
        // What they see is what all secrets together read from the deck.
        let sum: Scalar<C> = secrets.iter().map(|secret| *secret.scalar()).sum();
        let mut seen: Vec<DeckCard> = Vec::new();
        for (position, destination) in (0..13).zip(&plan) {
            let card = match destination {
                Destination::Seat(seat) => {
                    deal.own_card(&parameters, *seat, &own[usize::from(*seat)], position).unwrap()
                }
                Destination::Board => deal.opened(position).unwrap(),
                Destination::Nowhere => continue,
            };
            let sealed = deck.cards()[usize::from(position)];
            let truth = parameters.card(&(C::from(sealed.c2) - sealed.c1 * sum).into());
            assert_eq!(Some(card), truth, "round {round}");
            assert!(!seen.contains(&card), "round {round}: card {card} twice");
            seen.push(card);
        }
    }
}

#[test]
fn contributions_checked_together_are_taken_one_by_one() {
    let mut table = HandSetup::<C>::small("checked together");
    let mut deal = table.deal();
    let fresh = deal.clone();
    let blindings = table.blindings(&deal, 0);
    // The unblindings depend on all blindings of the same run.
    let mut ahead = deal.clone();
    table.accept(&mut ahead, &blindings);
    let run = [blindings, table.unblindings(&ahead, 0)].concat();
    let proven = deal.check_all(&table.parameters, &run).unwrap();
    assert!(deal.blinded(0).is_none(), "checking changes nothing");
    for contribution in &proven {
        deal.take(&table.parameters, contribution).unwrap();
    }
    let mut at_once = ahead;
    at_once.accept_all(&table.parameters, &run[3..]).unwrap();
    assert_eq!(deal, at_once);
    // One share in the name of another, and none is handed out; it is named.
    let mut touched = run;
    let Contribution::Unblinding { share, .. } = touched[4] else { panic!() };
    touched[4] = Contribution::Unblinding { shuffler: 2, position: 0, share };
    let refused = fresh.check_all(&table.parameters, &touched).unwrap_err();
    assert_eq!(refused, ContributionRefusal { index: 4, refusal: DealRefusal::NotProven { position: 0 } });
}

#[test]
fn shuffles_checked_together_are_taken_one_by_one() {
    let mut table = HandSetup::<C>::small("shuffles together");
    let messages = table.shuffles();
    let mut shuffling = Shuffling::new(&table.parameters, &table.keys);
    let proven = shuffling.check_all(&table.parameters, &messages).unwrap();
    assert_eq!(shuffling.next(), Some(0), "checking changes nothing");
    for shuffle in proven {
        shuffling.take(shuffle).unwrap();
    }
    assert_eq!(shuffling.finished().as_ref(), messages.last().map(|message| &message.deck));
}
