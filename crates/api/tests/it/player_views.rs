//! Players as people see them: redacted unless they may see all, and never without an entry in the audit log.

use serde_json::{Value, json};

use crate::world::{World, address, funds_of, player};

fn reads(world: &World) -> Vec<Value> {
    let log = world.look("olga", "/v1/audit-log").expect(200)["entries"].clone();
    let entries = log.as_array().unwrap().iter();
    entries.filter(|entry| entry["act"]["act"] == "read_player").map(|entry| entry["author"].clone()).collect()
}

fn short(name: &str) -> String {
    let wallet = player(name);
    format!("{}...{}", &wallet[..6], &wallet[38..])
}

#[test]
fn support_sees_redacted_players_and_each_look_is_logged() {
    let world = World::new();
    world.hire_all();
    let path = format!("/v1/players/{}", player("alice"));
    assert_eq!(world.look("vera", &path).code(), "forbidden");
    assert!(reads(&world).is_empty());

    let seen = world.look("sam", &path).expect(200);
    assert_eq!((&seen["player"], &seen["wallets"]), (&json!(short("alice")), &json!([short("alice")])));
    assert_eq!(seen["accounts"][0]["account"], json!(format!("arena/funds/1/{}", short("alice"))));
    assert_eq!(seen["accounts"][0]["balance"], json!("1000"));
    assert!(!seen.to_string().contains(&player("alice")), "{seen}");
    let in_full = world.look("otto", &path).expect(200);
    assert_eq!(in_full["wallets"], json!([player("alice")]));

    let program = world.program_key(&["read_players"]);
    let seen = world.with_token(&program, "GET", &path).expect(200);
    assert_eq!(seen["player"], json!(short("alice")));
    let session = world.open_session("operator", "sam");
    world.with_token(&session, "GET", &format!("/v1/players/{}", address("alice"))).expect(200);
    let id = program.split('_').nth(1).unwrap();
    let authors = ["person:sam", &format!("program:{id}"), "person:otto", "person:sam"];
    assert_eq!(reads(&world), authors.map(|author| json!(author)), "the newest first");
    assert_eq!(world.look("sam", &format!("/v1/players/{}", player("stranger"))).code(), "not_found");
    assert_eq!(reads(&world).len(), 4, "nothing was shown");
}

#[test]
fn lists_of_money_show_players_only_to_those_who_may_see_them() {
    let world = World::new();
    world.hire_all();
    world.deposit("dep-1", "alice", 100);
    let exit = json!({ "exit_id": "x1", "player": player("alice"), "amount": "1", "payout": "auto" });
    let stake = json!({ "account": funds_of("arena", "alice"), "amount": "100" });
    world.post("arena", "/v1/servers/arena/withdraw", stake).expect(200);
    world.post("arena", "/v1/servers/arena/exits", exit).expect(200);
    let account = funds_of("arena", "alice").replace('/', "%2F");
    let paths = [
        "/v1/servers/arena/accounts".to_owned(),
        format!("/v1/servers/arena/accounts/{account}"),
        format!("/v1/servers/arena/accounts/{account}/statement"),
        "/v1/servers/arena/deposits".to_owned(),
        "/v1/servers/arena/deposits/dep-1".to_owned(),
        "/v1/servers/arena/withdrawals".to_owned(),
        "/v1/servers/arena/exits/x1".to_owned(),
        format!("/v1/servers/arena/players/{}/eligibility", player("alice")),
    ];
    let program = world.program_key(&["read_money", "read_players"]);
    for path in paths {
        let redacted = |body: Value| {
            let text = body.to_string();
            assert!(text.contains(&short("alice")) && !text.contains(&player("alice")), "{path}: {text}");
        };
        ["vera", "sam", "paul"].iter().for_each(|of| redacted(world.look(of, &path).expect(200)));
        redacted(world.with_token(&program, "GET", &path).expect(200));
        for of in ["otto", "anna", "olga"] {
            assert!(world.look(of, &path).expect(200).to_string().contains(&player("alice")), "{path} as {of}");
        }
        assert!(world.get("arena", &path).expect(200).to_string().contains(&player("alice")), "{path}");
    }
}
