//! x
use super::table::*;
use crate::*;
#[test]
fn whole_hand() {
    let mut table = Table::<Secp256k1>::small("whole");
    let mut deal = table.deal();
    for position in 0..6 {
        table.deal_to_seat(&mut deal, position);
    }
    let mut cards = Vec::new();
    for position in 0..6u8 {
        let seat = position % 3;
        cards.push(deal.look(&table.parameters, seat, &table.players[seat as usize], position).unwrap());
    }
    for position in 7..9 {
        let r = table.reveals(&deal, position);
        table.accept(&mut deal, &r);
        cards.push(deal.opened(position).unwrap());
    }
    cards.sort();
    println!("{cards:?}");
    cards.dedup();
    assert_eq!(cards.len(), 8);
    let show = deal.show(0, &table.players[0], 0, &mut table.rng).unwrap();
    table.accept(&mut deal, &[show]);
}
