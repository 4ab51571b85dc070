//! Every rejection, each with the shortest story that ends with it.

use std::collections::HashSet;

use super::story::{Story, check};
use crate::Rejection;

/// In the order of the enum, each after a deposit of 100 for alice. A story undoes its other effects.
const STORIES: [(Rejection, &str); 25] = [
    (Rejection::KeyMalformed, "k\u{7f}1 game_server: move alice -> world 1  key_malformed"),
    (Rejection::LegsOutOfRange, "k1 game_server:  legs_out_of_range"),
    (Rejection::AmountZero, "k1 game_server: move alice -> world 0  amount_zero"),
    (Rejection::AccountsMustDiffer, "k1 game_server: move alice -> alice 1  accounts_must_differ"),
    (Rejection::FactMalformed, "k1 game_server: move alice -> world 1, make Spawns/s1 state=live  fact_malformed"),
    (Rejection::KeyNotAllowed, "k1@deposits game_server: move alice -> world 1  key_not_allowed"),
    (Rejection::NotConfirmed, "k1 admin(ann): move alice -> bob 1  not_confirmed"),
    (Rejection::HoldNeedsIntent, "k1 user(alice): hold alice 1 by system without intent  hold_needs_intent"),
    (
        Rejection::KeyReused,
        "k1 game_server: move alice -> world 101  insufficient_funds
         k1 game_server: move alice -> world 100  key_reused",
    ),
    (Rejection::ServerPaused, "k1 game_server: move alice -> world 1, need servers/arena spawns=open  server_paused"),
    (Rejection::AccountNotFound, "k1 game_server: move alice -> #99 1  account_not_found"),
    (Rejection::HoldNotFound, "k1 game_server: release #99  hold_not_found"),
    (Rejection::TransferNotFound, "k1 system: reverse #99  transfer_not_found"),
    (
        Rejection::NotReversible,
        "k1 game_server: hold alice 100 until 500  applied h1
         k2 game_server: release h1                applied
         k3 system: reverse k1                     not_reversible",
    ),
    (
        Rejection::AlreadyReversed,
        "k1 game_server: move alice -> world 100  applied
         k2 system: reverse k1                    applied
         k3 system: reverse k1                    already_reversed",
    ),
    (Rejection::NotAllowed, "k1 game_server: move alice -> bob 1  not_allowed"),
    (
        Rejection::AssetMismatch,
        "open world2 arena/world/2
         k1 game_server: move alice -> world2 1  asset_mismatch",
    ),
    (
        Rejection::HoldExpired,
        "at 500
         k1 game_server: hold alice 1 until 500  hold_expired",
    ),
    (
        Rejection::GuardFailed,
        "k1 game_server: move alice -> world 1, turn spawns/s1 state=held into state=live  guard_failed",
    ),
    (
        Rejection::HoldSettled,
        "k1 game_server: hold alice 10 until 500  applied h1
         k2 game_server: release h1               applied
         k3 game_server: post h1 -> world 10      hold_settled",
    ),
    (
        Rejection::HoldExceeded,
        "k1 game_server: hold alice 10 until 500  applied h1
         k2 game_server: post h1 -> world 11      hold_exceeded
         k3 game_server: release h1               applied",
    ),
    (Rejection::InsufficientFunds, "k1 game_server: move alice -> world 101  insufficient_funds"),
    (
        Rejection::CustodyShort,
        "open hot @house/custody/1/hot
         k1 system: move alice -> hot 1  custody_short",
    ),
    (
        Rejection::DebtAccountNotFound,
        "k1 game_server: move alice -> world 1  applied
         k2 indexer: reverse d1                 debt_account_not_found
         k3 game_server: move world -> alice 1  applied",
    ),
    (Rejection::BalanceOverflow, "d2 indexer: move vault -> bob MAX  balance_overflow"),
];

#[test]
fn every_rejection_leaves_the_books_as_they_were() {
    for (rejection, story) in STORIES {
        assert!(story.contains(rejection.code()), "{rejection:?} is in its own story");
        check(&format!("deposit d1 100 -> alice\n{story}"), "vault 100, alice 100");
    }
}

#[test]
fn only_the_store_can_refuse_a_fact() {
    let with_story: Vec<Rejection> = STORIES.iter().map(|(rejection, _)| *rejection).collect();
    let without_story: Vec<Rejection> =
        Rejection::ALL.into_iter().filter(|rejection| !with_story.contains(rejection)).collect();
    assert_eq!(without_story, [Rejection::FactRefused], "constraints of tables are not known to `decide`");
    assert!(with_story.is_sorted());
}

#[test]
fn the_list_is_complete_and_in_the_order_of_the_enum() {
    for (place, rejection) in Rejection::ALL.into_iter().enumerate() {
        assert_eq!(rejection as usize, place);
    }
    assert!(Rejection::ALL.is_sorted());
}

/// Both the journal and JSON have the code, so that a rule added in the middle changes nothing that was written.
#[test]
fn a_rejection_is_stored_and_reported_by_its_code() {
    let codes: HashSet<&str> = Rejection::ALL.iter().map(|rejection| rejection.code()).collect();
    assert_eq!(codes.len(), Rejection::ALL.len());
    for rejection in Rejection::ALL {
        let code = rejection.code();
        let (stored, json) = ([&[code.len() as u8], code.as_bytes()].concat(), format!("\"{code}\""));
        assert_eq!(postcard::to_stdvec(&rejection).unwrap(), stored);
        assert_eq!(postcard::from_bytes(&stored), Ok(rejection));
        assert_eq!(serde_json::to_string(&rejection).unwrap(), json);
        assert_eq!(serde_json::from_str::<Rejection>(&json).unwrap(), rejection);
    }
}

#[test]
fn an_unknown_code_is_refused() {
    for unknown in ["\"\"", "\"not_allowed \"", "\"NotAllowed\"", "\"no_luck\"", "15", "null"] {
        assert!(serde_json::from_str::<Rejection>(unknown).is_err(), "{unknown}");
    }
    assert!(postcard::from_bytes::<Rejection>(b"\x07no_luck").is_err());
    assert!(postcard::from_bytes::<Rejection>(b"\x0f").is_err(), "a place in the enum, as it once was");
    let why = serde_json::from_str::<Rejection>("\"no_luck\"").unwrap_err();
    assert!(why.to_string().starts_with("a rejection that this program does not know"), "{why}");
}

/// Callers branch on the codes. Whatever settlement must wait for leaves the key free as well.
#[test]
fn verdicts_are_remembered_and_refusals_of_the_form_are_not() {
    let (remembered, forgotten): (Vec<_>, Vec<_>) = Rejection::ALL.into_iter().partition(|it| it.is_remembered());
    let codes = |list: Vec<Rejection>| list.iter().map(|rejection| rejection.code()).collect::<Vec<_>>().join(" ");
    assert_eq!(
        codes(forgotten),
        "key_malformed legs_out_of_range amount_zero accounts_must_differ fact_malformed \
         key_not_allowed not_confirmed hold_needs_intent key_reused server_paused custody_short debt_account_not_found"
    );
    assert_eq!(
        codes(remembered),
        "account_not_found hold_not_found transfer_not_found not_reversible already_reversed not_allowed \
         asset_mismatch hold_expired guard_failed fact_refused hold_settled hold_exceeded insufficient_funds \
         balance_overflow"
    );
}

#[test]
fn what_is_not_remembered_leaves_no_record() {
    for (rejection, scenario) in STORIES {
        let mut story = Story::new();
        story.run("deposit d1 100 -> alice");
        for line in scenario.lines() {
            let records = story.journal.len();
            story.run(line);
            if line.ends_with(rejection.code()) {
                assert_eq!(story.journal.len() - records, usize::from(rejection.is_remembered()), "{rejection:?}");
            }
        }
    }
}
