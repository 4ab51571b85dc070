//! No role grants more than it has.

use serde_json::json;

use super::world::{World, address, code, name};
use crate::{OperatorRole, Right};

#[test]
fn what_each_role_may_do() {
    let lines: Vec<String> = OperatorRole::ALL
        .into_iter()
        .map(|role| {
            let rights: Vec<&str> = role.rights().into_iter().map(Right::as_str).collect();
            format!("{role}: {}", rights.join(" "))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "viewer: read_money",
            "support: read_money read_players",
            "operator: read_money read_players read_players_in_full handle_alerts pause_servers freeze_players \
             hold_deposits manage_webhooks propose",
            "approver: read_money read_players read_players_in_full read_audit_log handle_alerts pause_servers \
             freeze_players hold_deposits confirm",
            "policy_admin: read_money read_audit_log change_policy",
            "owner: read_money read_players read_players_in_full read_audit_log handle_alerts pause_servers \
             freeze_players hold_deposits manage_webhooks change_registry propose confirm change_policy manage_operators",
        ]
    );
}

#[test]
fn only_an_owner_adds_people_and_programs() {
    let mut world = World::staffed();
    let content = json!({ "kind": "add_person", "person": "eve", "roles": ["viewer"], "address": address(7) });
    assert_eq!(code(world.try_propose(3, &content)), "no_right");
    assert_eq!(code(world.try_propose(4, &content)), "no_right");
    let body = json!({ "label": "metrics", "rights": ["read_money"] });
    assert_eq!(code(world.ask(3, "POST", "/v1/program-keys", &body)), "no_right");
    assert_eq!(code(world.ask(3, "POST", "/v1/operators/ann/suspend", &json!(null))), "no_right");
    let keys = format!("/v1/operators/keys/{}", address(4));
    assert_eq!(code(world.ask(3, "DELETE", &keys, &json!(null))), "no_right");
}

#[test]
fn a_program_reads_and_nothing_more() {
    let mut world = World::staffed();
    for rights in [json!([]), json!(["confirm"]), json!(["read_money", "propose"]), json!(["read_players_in_full"])] {
        let body = json!({ "label": "metrics", "rights": rights });
        assert_eq!(code(world.ask(1, "POST", "/v1/program-keys", &body)), "malformed");
    }
    let body = json!({ "label": "metrics", "rights": ["read_money"], "lifetime_seconds": 60 });
    world.ask(1, "POST", "/v1/program-keys", &body).unwrap();
    let key = world.operators.program_key(&name("pk1")).unwrap().clone();
    assert!(key.is_live(world.now));
    assert!(!key.is_live(bankroll_ledger::Time(world.now.0 + 60_000_000)));
    world.ask(1, "DELETE", "/v1/program-keys/pk1", &json!(null)).unwrap();
    assert!(!world.operators.program_key(&name("pk1")).unwrap().is_live(world.now));
}

#[test]
fn a_key_belongs_to_one_person_for_ever() {
    let mut world = World::staffed();
    let content = json!({ "kind": "add_person", "person": "eve", "roles": ["viewer"], "address": address(3) });
    assert_eq!(code(world.try_propose(1, &content)), "already_exists");
    world.ask(1, "DELETE", &format!("/v1/operators/keys/{}", address(3)), &json!(null)).unwrap();
    assert_eq!(code(world.try_propose(1, &content)), "already_exists", "revoked is not free");
    let reserved =
        json!({ "kind": "add_person", "person": "quorum-of-one", "roles": ["viewer"], "address": address(7) });
    assert_eq!(code(world.try_propose(1, &reserved)), "malformed");
}
