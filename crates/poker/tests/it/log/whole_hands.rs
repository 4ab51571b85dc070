//! Hands from the start to the file, and the file checked by a verifier that took no part.

use bankroll_deck::{Bn254, Curve, Grumpkin};
use bankroll_poker::{
    Chips, Hand, HandTime, Phase, PhaseName, PlayerAction, Seat, SeatStatus,
    log::{Actor, Bundle, MessageKind, bundle::BundleReplay},
    phh::HandHistory,
};

use super::test_table::{Secp, TestTable, any_action, checked_down};
use crate::run;

#[test]
fn a_hand_with_52_cards_is_played_by_parties_that_exchange_only_envelopes() {
    let mut table = TestTable::<Secp>::new(7, "hand 1", &[1_000, 1_000, 1_000], 2, 52);
    table.work();
    // Each player sees their own cards and no others, and none is open.
    let holes: Vec<_> = table.parties.iter().filter_map(|party| party.own_cards(&table.parameters)).collect();
    assert_eq!(holes.len(), 3);
    assert_eq!((0..52).filter_map(|at| table.log.table().deal().unwrap().opened(at)).count(), 0);
    table.act(PlayerAction::RaiseTo(Chips::new(30)));
    table.act(PlayerAction::Call);
    table.act(PlayerAction::Fold);
    table.check_down();
    let [first, second] = [table.hand().to_act().unwrap(), Seat(1)];
    table.show(first);
    let bytes = table.party(Actor::Seat(second)).muck();
    table.accepted(&bytes);
    let bundle = table.finish();

    let report = Bundle::decode(&bundle.encode()).unwrap().verify(Some(&table.operator.key())).unwrap();
    assert_eq!(report.ended, PhaseName::Settled);
    // 30 + 30 + 10 in the pot, five percent of it to the house.
    assert_eq!(report.rake, Chips::new(3));
    let stacks: Vec<(u8, u64)> = report.stacks.iter().map(|(seat, chips)| (seat.0, chips.count())).collect();
    assert_eq!(stacks, [(1, 970), (3, 1_037), (5, 990)]);
    assert_eq!(report.board.len(), 5);
    assert_eq!(report.agreed, [Seat(1), Seat(3), Seat(5)]);
    // 5 keys; 2 shuffles; 6 hole cards and 2 shufflers make 24 shares, 5 board cards 10 more, one hand shown 2.
    let checked = report.checked;
    assert_eq!((checked.keys, checked.shuffles, checked.equalities), (5, 2, 24 + 10 + 2));
    // Start, keys, shuffles, shares, a showdown, a muck, a settlement; 3 decisions before the flop, 2 on each street.
    assert_eq!(checked.events, 1 + 5 + 2 + 34 + 1 + 1 + 1 + 3 + 6);
    assert_eq!(checked.signatures, 2 * checked.events + 1 + 3);
    assert_eq!(report.state, table.log.table().state_hash());
}

#[test]
fn replay_matches_live_state() {
    let (table, bundle) = checked_down(3);
    let bundle = Bundle::decode(&bundle.encode()).unwrap();
    // Proof by proof and many at once come to the same, after every event.
    let mut singly = BundleReplay::start(&table.parameters, &bundle.entries).unwrap();
    let mut batched = BundleReplay::start(&table.parameters, &bundle.entries).unwrap().batched();
    while let Some(step) = singly.step() {
        assert_eq!(step.unwrap(), batched.step().unwrap().unwrap());
        assert_eq!(singly.table().state_hash(), batched.table().state_hash());
    }
    assert!(batched.step().is_none());
    assert_eq!(singly.table().state_hash(), table.log.table().state_hash());
    assert_eq!(singly.table(), table.log.table());
    for party in &table.parties {
        assert_eq!(party.table().state_hash(), table.log.table().state_hash());
    }
}

#[test]
fn a_mucked_card_cannot_be_learned_from_the_file() {
    let mut table = TestTable::<Secp>::small(11, &[1_000, 1_000, 1_000], 2);
    table.check_down();
    let shows = table.hand().to_act().unwrap();
    table.show(shows);
    while let Some(seat) = table.hand().to_act() {
        let bytes = table.party(Actor::Seat(seat)).muck();
        table.accepted(&bytes);
    }
    let bundle = table.finish();
    let mut replay = BundleReplay::start(&table.parameters, &bundle.entries).unwrap();
    while let Some(step) = replay.step() {
        step.unwrap();
    }
    let deal = replay.table().deal().unwrap();
    let plan = table.log.table().config().snapshot.plan();
    for (seat, places) in plan.holes() {
        let open = places.map(|place| deal.opened(place).is_some());
        assert_eq!(open, [*seat == shows; 2], "{seat}");
        let shown = replay.table().hand().player(*seat).unwrap().status;
        assert_eq!(matches!(shown, SeatStatus::Shown(_)), *seat == shows);
    }
    // What would open a card is its player's share, and there is one message with such shares: that of the one who
    // showed.
    let view = bundle.view().unwrap();
    let showdowns = view.events.iter().filter(|event| event.envelope.header.kind == MessageKind::Showdown);
    assert_eq!(showdowns.map(|event| event.envelope.header.actor).collect::<Vec<_>>(), [Actor::Seat(shows)]);
}

#[test]
fn the_file_can_be_read_as_json_and_as_a_hand_history() {
    let (table, bundle) = checked_down(5);
    let json = serde_json::to_value(bundle.view().unwrap()).unwrap();
    assert_eq!(json["format"], "bankroll hand 1");
    assert_eq!(json["events"][0]["envelope"]["message"]["hand_start"]["deployment"], "casino");
    assert_eq!(json["events"][1]["envelope"]["header"]["actor"]["shuffler"], 0);
    assert_eq!(json["events"][1]["receipt"]["link"]["seq"], 1);
    assert_eq!(json["checkpoint"]["page"]["rake"], "1");
    let events = bundle.events(&table.parameters).unwrap();
    let history = HandHistory::of(table.hand().snapshot(), HandTime(1_000), &events, |_| None).unwrap();
    let text = history.to_text().unwrap();
    assert!(text.contains("variant = \"NT\"") && text.contains("p1 cc"), "{text}");
}

fn random_hand<C: Curve>(seed: u64) -> Bundle {
    let stacks: Vec<u64> = (0..2 + seed % 3).map(|seat| 40 + (seed.wrapping_mul(31 + seat) % 400)).collect();
    let mut table = TestTable::<C>::small(seed, &stacks, 1 + (seed % 2) as u8);
    let chips = table.hand().snapshot().chips();
    table.play(any_action);
    let held = |hand: &Hand| Chips::checked_sum(hand.players().iter().map(|player| player.stack)).unwrap();
    let Phase::Settled(settlement) = table.hand().phase() else { panic!("{:?}", table.hand().phase()) };
    assert_eq!(held(table.hand()).checked_add(settlement.rake), Some(chips), "seed {seed}");
    let bundle = table.finish();
    let report = bundle.verify(None).unwrap_or_else(|fault| panic!("{fault}, seed {seed}"));
    assert_eq!(report.state, table.log.table().state_hash(), "seed {seed}");
    assert!(table.log.evidence().is_empty(), "seed {seed}");
    bundle
}

#[test]
fn random_hands_verify_and_keep_every_chip() {
    for seed in run::rounds(12) {
        random_hand::<Secp>(seed);
    }
}

#[test]
fn hands_are_played_on_the_other_curves_too() {
    random_hand::<Bn254>(1);
    random_hand::<Grumpkin>(2);
}
