//! PHH files of PokerKit replay here to the same stacks, and ours there.

use bankroll_poker::{HandEvent, HandTime, phh::HandHistory};
use serde_json::{Value, json};

use crate::{played::PlayedHand, pokerkit::PokerKit, run};

const HANDS: u64 = 500;

#[test]
fn files_of_pokerkit_replay_here_and_ours_there() {
    let mut pokerkit = PokerKit::start();
    let (mut theirs_read, mut ours_read) = (0, 0);
    for seed in run::rounds(HANDS) {
        let played = PlayedHand::random(seed ^ 0x5048_4800);
        let answer = pokerkit.ask(&played.order(true));
        let Some(text) = answer["phh"].as_str() else {
            // The one difference that ends a comparison early; it is counted where hands are compared.
            assert!(answer["refused"].is_string(), "{answer}");
            continue;
        };
        let rules = *played.deal.snapshot.rules();
        let history = HandHistory::read(text, &rules).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let replayed = history.replay(HandTime(0)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let stacks: Vec<u64> = replayed.hand.players().iter().map(|player| player.stack.count()).collect();
        assert_eq!(stacks, played.stacks(), "their file replays to something else\n{text}");
        theirs_read += 1;

        let events: Vec<(HandEvent, HandTime)> =
            played.events.iter().map(|event| (event.clone(), HandTime(0))).collect();
        let ours =
            HandHistory::of(&played.deal.snapshot, HandTime(0), &events, |seat| Some(played.deal.hole(seat))).unwrap();
        let text = ours.to_text().unwrap();
        let again = HandHistory::read(&text, &rules).unwrap();
        assert_eq!(again, ours, "our file reads as something else\n{text}");
        assert_eq!(again.replay(HandTime(0)).unwrap().hand.players(), played.hand.players(), "{text}");
        if played.mucked().is_empty() {
            let there = pokerkit.ask(&json!({ "read": text }));
            assert_eq!(there["over"], true, "{there}\n{text}");
            assert_same(&there["final"], &played.stacks(), answer["odd"] == true, &text);
            ours_read += 1;
        }
    }
    run::print_line(&format!("histories: {theirs_read} files of PokerKit replayed here, {ours_read} of ours there"));
    assert!(theirs_read > 0 && ours_read > 0);
}

/// PokerKit gives all odd chips of a pot to one winner; we give them one by one.
fn assert_same(theirs: &Value, ours: &[u64], odd: bool, text: &str) {
    let theirs: Vec<u64> = serde_json::from_value(theirs.clone()).unwrap();
    let few = if odd { ours.len() as u64 * 10 } else { 1 };
    let close = ours.iter().zip(&theirs).all(|(ours, theirs)| ours.abs_diff(*theirs) < few);
    assert!(close, "PokerKit reads {theirs:?}, we had {ours:?}\n{text}");
}
