//! Stories of proposals: who signs what, in which order, and what comes of it.

use bankroll_ledger::Time;
use serde_json::json;

use super::world::{World, address, code, name, transfer};
use crate::{Effect, PROPOSAL_LIFETIME, ProposalStatus};

#[test]
fn two_people_move_money_and_one_does_not() {
    let mut world = World::staffed();
    let content = transfer("5");
    let (id, effects) = world.try_propose(3, &content).unwrap();
    assert_eq!(effects, [], "Paul alone");
    assert_eq!(code(world.confirm(3, id, &content)), "no_right", "Paul does not confirm");
    let effects = world.confirm(4, id, &content).unwrap();
    let [Effect::Execute { proposal, author, confirmed_by, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((*proposal, author.as_str()), (id, "paul"));
    assert_eq!(confirmed_by.as_ref().map(|by| by.as_str()), Some("ann"));
    assert_eq!(code(world.confirm(1, id, &content)), "proposal_ended", "it takes effect once");
}

#[test]
fn an_owner_does_not_confirm_their_own_proposal_with_any_key() {
    let mut world = World::staffed();
    let content = json!({ "kind": "add_key", "person": "olga", "address": address(9) });
    let id = world.propose(1, &content);
    world.confirm(2, id, &content).unwrap();
    let content = transfer("5");
    let id = world.propose(1, &content);
    assert_eq!(code(world.confirm(1, id, &content)), "already_signed");
    assert_eq!(code(world.confirm(9, id, &content)), "already_signed", "another key of the same person");
    assert_eq!(world.confirm(2, id, &content).unwrap().len(), 1);
}

#[test]
fn a_confirmation_of_another_content_counts_for_nothing() {
    let mut world = World::staffed();
    let id = world.propose(3, &transfer("5"));
    assert_eq!(code(world.confirm(4, id, &transfer("500"))), "other_content");
    assert_eq!(world.operators.proposal(id).unwrap().status, ProposalStatus::Open);
    assert_eq!(world.confirm(4, id, &transfer("5")).unwrap().len(), 1);
}

#[test]
fn what_a_suspended_person_or_a_revoked_key_has_signed_does_not_count() {
    let mut world = World::staffed();
    let content = transfer("5");
    let id = world.propose(3, &content);
    world.ask(1, "POST", "/v1/operators/paul/suspend", &json!(null)).unwrap();
    assert_eq!(world.confirm(4, id, &content).unwrap(), [], "the author is suspended");
    assert_eq!(world.confirm(2, id, &content).unwrap(), [], "without its author no proposal takes effect");
    assert_eq!(code(world.ask(3, "POST", "/v1/proposals", &json!({ "content": content }))), "unknown_key");

    let second = world.propose(1, &content);
    world.ask(4, "DELETE", &format!("/v1/operators/keys/{}", address(4)), &json!(null)).unwrap();
    assert_eq!(code(world.confirm(4, second, &content)), "unknown_key", "Ann revoked her own key");
    assert_eq!(world.confirm(2, second, &content).unwrap().len(), 1);
}

#[test]
fn a_proposal_expires_and_can_be_rejected() {
    let mut world = World::staffed();
    let content = transfer("5");
    let (late, rejected) = (world.propose(3, &content), world.propose(3, &content));
    world.ask(4, "POST", &format!("/v1/proposals/{rejected}/reject"), &json!(null)).unwrap();
    assert_eq!(code(world.confirm(4, rejected, &content)), "proposal_ended");
    world.now = Time(world.now.0 + PROPOSAL_LIFETIME);
    assert_eq!(world.operators.proposal(late).unwrap().status_at(world.now), ProposalStatus::Expired);
    assert_eq!(code(world.confirm(4, late, &content)), "proposal_ended");
}

#[test]
fn one_person_who_suspends_all_others_is_not_alone_by_that() {
    let mut world = World::staffed();
    for person in ["otto", "ann"] {
        world.ask(1, "POST", &format!("/v1/operators/{person}/suspend"), &json!(null)).unwrap();
    }
    let puppet = json!({ "kind": "add_person", "person": "puppet", "roles": ["approver"], "address": address(8) });
    assert_eq!(world.try_propose(1, &puppet).unwrap().1, []);
    let alone = json!({ "kind": "set_quorum", "quorum": 1 });
    assert_eq!(world.try_propose(1, &alone).unwrap().1, []);
    assert!(world.operators.person(&name("puppet")).is_none());
    assert_eq!(world.operators.quorum(), 2);
    assert_eq!(code(world.ask(1, "POST", "/v1/operators/olga/suspend", &json!(null))), "last_owner");
}

#[test]
fn a_studio_of_one_says_so() {
    let mut world = World::new();
    assert_eq!(world.try_propose(1, &transfer("5")).unwrap().1, [], "two must sign unless Olga says otherwise");
    world.propose(1, &json!({ "kind": "set_quorum", "quorum": 1 }));
    assert_eq!(world.operators.quorum(), 1);
    let effects = world.try_propose(1, &transfer("5")).unwrap().1;
    assert!(matches!(effects.as_slice(), [Effect::Execute { confirmed_by: None, .. }]), "{effects:?}");
}

#[test]
fn a_viewer_as_the_second_person_does_not_lock_the_owner_out() {
    let mut world = World::new();
    let add = |person: &str, role: &str, number| json!({ "kind": "add_person", "person": person, "roles": [role], "address": address(number) });
    assert_eq!(world.try_propose(1, &add("vera", "viewer", 2)).unwrap().1.len(), 1);
    assert_eq!(world.try_propose(1, &add("ann", "approver", 3)).unwrap().1.len(), 1);
    assert_eq!(world.try_propose(1, &add("otto", "owner", 4)).unwrap().1, [], "now Ann must agree");
}

#[test]
fn a_frozen_player_is_unfrozen_by_two() {
    let mut world = World::staffed();
    let freeze = json!({ "reason": "two accounts" });
    let effects =
        world.ask(3, "POST", "/v1/players/0xabababababababababababababababababababab/freeze", &freeze).unwrap();
    let (player, reason) = (name("0xabababababababababababababababababababab"), "two accounts".to_owned());
    assert_eq!(effects, [Effect::FreezePlayer { player: player.clone(), reason }]);
    assert_eq!(
        code(world.ask(3, "POST", "/v1/players/0xabababababababababababababababababababab/freeze", &freeze)),
        "already_exists"
    );
    let content = json!({ "kind": "unfreeze_player", "player": "0xabababababababababababababababababababab" });
    let id = world.propose(3, &content);
    assert_eq!(world.operators.frozen(&player), Some("two accounts"));
    world.confirm(4, id, &content).unwrap();
    assert_eq!(world.operators.frozen(&player), None);
}
