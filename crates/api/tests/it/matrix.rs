//! Who may do what: every operation of the OpenAPI document, for every kind of caller, on their own, another's and a
//! missing resource. The table is the specification; an operation without a row fails.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    people::{PEOPLE, signed},
    world::{Ask, World, address, funds_of, player},
};

/// The callers, in the order of the columns. Servers and players show the token of a session, people sign, the program
/// shows its key.
const CALLERS: [(&str, Option<&str>); 13] = [
    ("anonymous", None),
    ("the server itself", Some("arena")),
    ("another server", Some("rival")),
    ("a player", Some("alice")),
    ("the developer", Some("dev")),
    ("the owner", Some("olga")),
    ("a viewer", Some("vera")),
    ("support", Some("sam")),
    ("an operator", Some("otto")),
    ("an approver", Some("anna")),
    ("a policy admin", Some("paul")),
    ("a suspended owner", Some("susi")),
    ("a program that may read all", Some("program")),
];

/// One operation: method, template, body, the status for each caller (anonymous, server itself, another server, player,
/// developer, owner), and for the others who run the deployment (viewer, support, operator, approver, policy admin,
/// suspended, program): `y` as the owner, `n` forbidden, `u` unauthenticated.
///
/// `{server}` is the arena, other variables are resources of the arena. Where a server's own body is sound but the
/// ledger has a reason to refuse, the status of that refusal (409, 422) shows that access was granted.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, [u16; 6], &str)] = &[
    // Public: the proof is in the body, so a body without one is wrong for every caller.
    ("GET",    "/v1/time",                                             "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    ("POST",   "/v1/register",                                         "{}",        [400, 400, 400, 400, 400, 400], "yyyyyyy"),
    ("POST",   "/v1/sessions",                                         "{}",        [400, 400, 400, 400, 400, 400], "yyyyyyy"),
    ("POST",   "/v1/sign-in/nonce",                                    "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    ("POST",   "/v1/sign-in",                                          "{}",        [400, 400, 400, 400, 400, 400], "yyyyyyy"),
    ("GET",    "/v1/heads",                                            "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    ("GET",    "/v1/heads/latest",                                     "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    ("GET",    "/v1/heads/consistency",                                "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    ("GET",    "/v1/heads/{batch}",                                    "",          [200, 200, 200, 200, 200, 200], "yyyyyyy"),
    // Those whose accounts the record touches, and operators.
    ("GET",    "/v1/receipts/{record}",                                "",          [401, 200, 404, 200, 404, 200], "yyyyyuy"),
    // The game server; the owner reads.
    ("GET",    "/v1/servers/{server}",                                 "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/versions",                        "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/accounts",                        "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/accounts",                        "player",    [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/accounts/{account}",              "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/accounts/{account}/statement",    "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/deposit",                         "money",     [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/withdraw",                        "money",     [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/transfer",                        "transfer",  [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/pellets",                         "amount",    [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/recycle",                         "amount",    [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/holds",                           "money",     [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/holds/{hold}/post",               "post",      [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/holds/{hold}/release",            "{}",        [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/records/{record}/reverse",        "{}",        [401, 403, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/batch",                           "batch",     [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/players/{wallet}/eligibility",    "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/spawns",                          "player",    [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/spawns",                          "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/spawns/{spawn}",                  "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/spawns/{spawn}/commit",           "{}",        [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/spawns/{spawn}/release",          "{}",        [401, 409, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/spawns/{spawn}/refund",           "{}",        [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/exits",                           "exit",      [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/exits/{exit}",                    "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/deposits",                        "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/deposits/{deposit}",              "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/withdrawals",                     "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/withdrawals/{id}",                "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    // The developer of a server. A body without a signature is wrong for the one who may.
    ("GET",    "/v1/servers/{server}/developer",                       "",          [401, 404, 404, 404, 200, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/developer/withdrawals",           "{}",        [401, 404, 404, 404, 400, 403], "yyyyyuy"),
    // Players; a developer signs in as a player does.
    ("GET",    "/v1/me",                                               "",          [401, 403, 403, 200, 200, 403], "yyyyyuy"),
    ("GET",    "/v1/me/balances",                                      "",          [401, 403, 403, 200, 200, 403], "yyyyyuy"),
    ("GET",    "/v1/me/deposit-address",                               "",          [401, 403, 403, 200, 200, 403], "yyyyyuy"),
    ("GET",    "/v1/me/history",                                       "",          [401, 403, 403, 200, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/me/wallets",                                       "{}",        [401, 403, 403, 400, 400, 403], "yyyyyuy"),
    ("POST",   "/v1/me/exclusion",                                     "{}",        [401, 403, 403, 400, 400, 403], "yyyyyuy"),
    ("GET",    "/v1/me/withdrawals",                                   "",          [401, 403, 403, 200, 200, 403], "yyyyyuy"),
    ("POST",   "/v1/me/withdrawals",                                   "{}",        [401, 403, 403, 400, 400, 403], "yyyyyuy"),
    ("GET",    "/v1/me/withdrawals/{id}",                              "",          [401, 403, 403, 200, 404, 403], "yyyyyuy"),
    // Events: each caller sees their own.
    ("GET",    "/v1/events",                                           "",          [401, 200, 200, 200, 200, 200], "yyyyyuy"),
    // Webhooks: of the deployment, and of a game server.
    ("GET",    "/v1/webhooks",                                         "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks",                                         "webhook",   [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("GET",    "/v1/webhooks/{webhook}",                               "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("PATCH",  "/v1/webhooks/{webhook}",                               "{}",        [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks/{webhook}/rotate",                        "{}",        [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks/{webhook}/resend",                        "resend",    [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks/{webhook}/test",                          "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("GET",    "/v1/webhooks/{webhook}/deliveries",                    "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks/{webhook}/disable",                       "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("POST",   "/v1/webhooks/{webhook}/enable",                        "",          [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("GET",    "/v1/servers/{server}/webhooks",                        "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks",                        "webhook",   [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/webhooks/{webhook}",              "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("PATCH",  "/v1/servers/{server}/webhooks/{webhook}",              "{}",        [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks/{webhook}/rotate",       "{}",        [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks/{webhook}/resend",       "resend",    [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks/{webhook}/test",         "",          [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("GET",    "/v1/servers/{server}/webhooks/{webhook}/deliveries",   "",          [401, 200, 404, 404, 404, 200], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks/{webhook}/disable",      "",          [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    ("POST",   "/v1/servers/{server}/webhooks/{webhook}/enable",       "",          [401, 200, 404, 404, 404, 403], "yyyyyuy"),
    // The owner. A body without fields is wrong for the one who may.
    ("GET",    "/v1/servers",                                          "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("PUT",    "/v1/servers/{server}/pauses",                          "pauses",    [401, 403, 403, 403, 403, 200], "nnyynun"),
    ("PUT",    "/v1/servers/{server}/developer",                       "developer", [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("PUT",    "/v1/servers/{server}/labels",                          "labels",    [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("PUT",    "/v1/servers/{server}/player-addresses",                "enabled",   [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("GET",    "/v1/registry/chains",                                  "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/chains",                                  "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("GET",    "/v1/registry/assets",                                  "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/assets",                                  "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("GET",    "/v1/registry/wallets",                                 "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/wallets",                                 "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("GET",    "/v1/registry/custody-keys",                            "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/custody-keys",                            "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("GET",    "/v1/registry/treasury",                                "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/treasury",                                "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("GET",    "/v1/registry/server-keys",                             "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/registry/server-keys",                             "{}",        [401, 403, 403, 403, 403, 400], "nnnnnun"),
    ("PATCH",  "/v1/registry/server-keys/{address}",                   "until",     [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("DELETE", "/v1/registry/server-keys/{address}",                   "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("DELETE", "/v1/registry/treasury/{chain}/{address}",              "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("GET",    "/v1/registry/changes",                                 "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    // Alerts.
    ("GET",    "/v1/alerts",                                           "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("GET",    "/v1/alerts/{alert}",                                   "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/alerts/{alert}/acknowledge",                       "{}",        [401, 403, 403, 403, 403, 200], "nnyynun"),
    ("POST",   "/v1/alerts/{alert}/close",                             "{}",        [401, 403, 403, 403, 403, 200], "nnyynun"),
    // Deposits that people decide about; the one of the row is booked.
    ("GET",    "/v1/deposits",                                         "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("GET",    "/v1/deposits/{deposit}",                               "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/deposits/{deposit}/hold",                          "reason",    [401, 403, 403, 403, 403, 409], "nnyynun"),
    // People, and acts that need several of them.
    ("GET",    "/v1/operators",                                        "",          [401, 403, 403, 403, 403, 200], "nnnyyuy"),
    ("GET",    "/v1/operators/me",                                     "",          [401, 403, 403, 403, 403, 200], "yyyyyun"),
    ("GET",    "/v1/operators/{person}",                               "",          [401, 403, 403, 403, 403, 200], "nnnyyuy"),
    ("POST",   "/v1/operators/{person}/suspend",                       "{}",        [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("DELETE", "/v1/operators/keys/{address}",                         "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("GET",    "/v1/operators/sessions",                               "",          [401, 403, 403, 403, 403, 200], "yyyyyun"),
    ("DELETE", "/v1/operators/sessions/{session}",                     "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("GET",    "/v1/program-keys",                                     "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("POST",   "/v1/program-keys",                                     "program",   [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("DELETE", "/v1/program-keys/{key}",                               "",          [401, 403, 403, 403, 403, 200], "nnnnnun"),
    ("GET",    "/v1/proposals",                                        "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/proposals",                                        "content",   [401, 403, 403, 403, 403, 200], "nnynnun"),
    ("GET",    "/v1/proposals/{proposal}",                             "",          [401, 403, 403, 403, 403, 200], "yyyyyuy"),
    ("POST",   "/v1/proposals/{proposal}/confirm",                     "content",   [401, 403, 403, 403, 403, 200], "nnnynun"),
    ("POST",   "/v1/proposals/{proposal}/reject",                      "{}",        [401, 403, 403, 403, 403, 200], "nnnynun"),
    ("GET",    "/v1/audit-log",                                        "",          [401, 403, 403, 403, 403, 200], "nnnyyuy"),
    ("GET",    "/v1/players/{player}",                                 "",          [401, 403, 403, 403, 403, 200], "nyyynuy"),
    ("POST",   "/v1/players/{player}/freeze",                          "reason",    [401, 403, 403, 403, 403, 200], "nnyynun"),
    // Last: it ends the session of the caller.
    ("DELETE", "/v1/sessions/current",                                 "",          [401, 200, 200, 200, 200, 200], "uuuuuuu"),
];

/// Resources of the arena that the rows name.
#[derive(Default)]
struct Resources {
    hold: String,
    record: String,
    spawn: String,
    withdrawal: String,
    person: String,
    session: String,
    program_key: String,
    proposal: String,
    player: String,
    /// The batch of a published head.
    batch: u64,
    webhook: String,
    alert: String,
}

impl Resources {
    /// New ones for each question: some are used up by the first.
    fn new(world: &World, template: &str, method: &str) -> Self {
        let mut made = Self { person: "zoe".into(), player: player("alice"), ..Self::default() };
        if template.contains("{alert}") {
            made.alert = world.open_alert(&format!("wallet-{}", world.number()));
        }
        made.webhook = webhook(world, template);
        if ["{hold}", "{record}", "{spawn}", "{id}", "{exit}"].iter().any(|part| template.contains(part)) {
            made.make_money(world, template, method);
        }
        // After the record: its receipt is under this head.
        if template.contains("/heads") || template.contains("/receipts") {
            made.batch = crate::heads::publish(world).batch;
        }
        match template {
            "/v1/operators/sessions/{session}" => {
                world.open_session("operator", "omar");
                let open = world.look("omar", "/v1/operators/sessions").expect(200)["sessions"].clone();
                let open = open.as_array().unwrap().iter().find(|open| open["person"] == "omar").unwrap();
                made.session = open["session"].as_str().unwrap().to_owned();
            }
            "/v1/program-keys/{key}" => {
                let key = world.program_key(&["read_money"]);
                made.program_key = key.split('_').nth(1).unwrap().to_owned();
            }
            // Frozen once.
            "/v1/players/{player}/freeze" => made.player = player(&format!("player {}", world.number())),
            _ if template.contains("{proposal}") => {
                let proposal = world.propose("omar", &content()).expect(200);
                made.proposal = proposal["proposal"].as_str().unwrap().to_owned();
            }
            _ => {}
        }
        made
    }

    fn make_money(&mut self, world: &World, template: &str, method: &str) {
        let alice = funds_of("arena", "alice");
        // Before she has a live spawn; the same exit again later.
        let exit = json!({ "exit_id": "known", "player": player("alice"), "amount": "1", "payout": "auto" });
        let exit = world.post("arena", "/v1/servers/arena/exits", exit).expect(200);
        let held =
            world.post("arena", "/v1/servers/arena/holds", json!({ "account": alice, "amount": "2" })).expect(200);
        let spawn = world.post("arena", "/v1/servers/arena/spawns", json!({ "player": player("alice") })).expect(200);
        self.spawn = spawn["spawn"].as_str().unwrap().to_owned();
        // A refund and a release need a spawn that is committed.
        if method == "POST" && !template.ends_with("/commit") {
            world.post("arena", &format!("/v1/servers/arena/spawns/{}/commit", self.spawn), json!({})).expect(200);
        }
        self.hold = held["holds"][0]["id"].as_str().unwrap().to_owned();
        self.record = held["record"].as_str().unwrap().to_owned();
        self.withdrawal = exit["withdrawal"].as_str().unwrap().to_owned();
    }

    fn path(&self, template: &str, server: &str) -> String {
        let path = template
            .replace("{server}", server)
            .replace("{account}", &funds_of("arena", "alice").replace('/', "%2F"))
            .replace("{hold}", &self.hold)
            .replace("{record}", &self.record)
            .replace("{wallet}", &player("alice"))
            .replace("{spawn}", &self.spawn)
            .replace("{exit}", "known")
            .replace("{batch}", &self.batch.to_string())
            .replace("{id}", &self.withdrawal)
            .replace("{webhook}", &self.webhook)
            .replace("{alert}", &self.alert)
            .replace("{deposit}", DEPOSIT)
            .replace("{chain}", "eip155:1337")
            .replace("{address}", &address(spare_of(template)).to_string())
            .replace("{person}", &self.person)
            .replace("{session}", &self.session)
            .replace("{key}", &self.program_key)
            .replace("{proposal}", &self.proposal)
            .replace("{player}", &self.player);
        match template {
            "/v1/heads/consistency" => format!("{path}?from={0}&to={0}", self.batch),
            "/v1/me/deposit-address" => path + "?server=arena",
            "/v1/me/history" => format!("{path}?account={}", funds_of("arena", "alice").replace('/', "%2F")),
            _ => path,
        }
    }
}

/// A proposal that the ledger will reject: there is nothing to reverse.
fn content() -> serde_json::Value {
    json!({ "kind": "reverse", "record": "rec_1", "reason": "matrix" })
}

/// The webhook that a row names: always the same one, of the deployment or of the arena.
fn webhook(world: &World, template: &str) -> String {
    let (of, path) = match template.split_once("{webhook}").map(|(before, _)| before) {
        Some("/v1/webhooks/") => ("olga", "/v1/webhooks"),
        Some(_) => ("arena", "/v1/servers/arena/webhooks"),
        None => return String::new(),
    };
    let body = json!({ "url": "https://hooks.example/matrix" });
    world.post_with(of, path, "matrix-webhook", body).expect(200)["webhook"].as_str().unwrap().to_owned()
}

fn body(kind: &str, world: &World) -> Option<Vec<u8>> {
    let alice = funds_of("arena", "alice");
    let body = match kind {
        "" => return None,
        "{}" => json!({}),
        "player" => json!({ "player": player("alice") }),
        "money" => json!({ "account": alice, "amount": "1" }),
        "transfer" => json!({ "from": alice, "to": "arena/world/1", "amount": "1" }),
        "amount" => json!({ "amount": "1" }),
        "post" => json!({ "to": "arena/world/1", "amount": "1" }),
        "batch" => json!({ "operations": [{ "key": "k", "type": "pellets", "amount": "1" }] }),
        "exit" => {
            let exit_id = format!("exit-{}", world.number());
            json!({ "exit_id": exit_id, "player": player("carol"), "amount": "1", "payout": "keep" })
        }
        "developer" => json!({ "developer": address("dev") }),
        "webhook" => json!({ "url": "https://hooks.example/matrix" }),
        "resend" => json!({ "from": "evt_1_0" }),
        "labels" => json!({ "labels": "europe" }),
        "enabled" => json!({ "enabled": false }),
        "until" => json!({ "valid_until": "2027-01-01T00:00:00Z" }),
        "program" => json!({ "label": "reports", "rights": ["read_money"] }),
        "content" => json!({ "content": content() }),
        "reason" => json!({ "reason": "matrix" }),
        "pauses" => json!({ "deposits": false, "spawns": false, "withdrawals": false, "disabled": false }),
        _ => panic!("{kind}"),
    };
    Some(body.to_string().into_bytes())
}

/// A deposit of Alice's at the arena.
const DEPOSIT: &str = "dep-of-alice";

/// Whose key or address a row of the registry names.
fn spare_of(template: &str) -> &'static str {
    match template {
        "/v1/registry/treasury/{chain}/{address}" => "spare capital",
        "/v1/operators/keys/{address}" => "spare key",
        _ => "spare",
    }
}

/// What the row needs, made by the owner.
fn make_spare(world: &World, method: &str, template: &str) {
    let spare = address(spare_of(template));
    match template {
        "/v1/registry/treasury/{chain}/{address}" => {
            let capital = json!({ "chain": "eip155:1337", "address": spare, "label": "" });
            world.owner("POST", "/v1/registry/treasury", capital);
        }
        "/v1/operators/keys/{address}" => {
            world.agree(&json!({ "kind": "add_key", "person": "omar", "address": spare }));
        }
        // The row before made it.
        _ if method == "DELETE" => {}
        _ => drop(world.owner("POST", "/v1/registry/server-keys", crate::world::server_key("arena", "spare"))),
    }
}

fn ask(world: &World, method: &str, path: &str, of: Option<&str>, body: Option<Vec<u8>>) -> u16 {
    let key = format!("matrix-{}", world.number());
    // Only a session can be closed.
    let signs = of.is_some_and(|of| PEOPLE.contains(&of)) && (path, of) != ("/v1/sessions/current", Some("olga"));
    let reply = if signs {
        world.ask(signed(world, of.unwrap_or_default(), (method, path), Some(&key), body))
    } else {
        let token = of.map(|of| world.token(of));
        world.ask(Ask { token: token.as_deref(), key: Some(&key), body, ..Ask::new(method, path) })
    };
    if reply.status == 404 {
        assert_eq!(reply.body["detail"], json!("There is no such resource"), "{method} {path}: one answer for all");
    }
    reply.status
}

/// The status for each caller.
fn statuses(servers: &[u16; 6], people: &str) -> Vec<u16> {
    let owner = servers[5];
    let of = |letter: char| match letter {
        'y' => owner,
        'n' => 403,
        'u' => 401,
        _ => panic!("{people}"),
    };
    servers.iter().copied().chain(people.chars().map(of)).collect()
}

/// A world with people of every role, a spare one, and a program.
fn world() -> World {
    let world = World::new();
    world.hire_all();
    world.hire("zoe", &["viewer"]);
    let key = world.program_key(&["read_money", "read_players", "read_audit_log"]);
    world.remember("program", key);
    world
}

#[test]
fn every_operation_has_a_row_and_every_row_an_operation() {
    let document = serde_json::to_value(bankroll_api::openapi()).unwrap();
    let methods = |path: &str| {
        let item = document["paths"][path].as_object().unwrap();
        item.keys().map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    let paths = document["paths"].as_object().unwrap().keys();
    let documented: BTreeSet<String> = paths.flat_map(|path| methods(path)).collect();
    let rows: BTreeSet<String> = TABLE.iter().map(|(method, path, ..)| format!("{method} {path}")).collect();
    assert_eq!(documented, rows);
}

#[test]
fn each_caller_gets_what_the_table_says() {
    let world = world();
    world.give(&funds_of("arena", "alice"), 1_000_000);
    world.deposit(DEPOSIT, "alice", 100);
    let stake = json!({ "account": funds_of("arena", "alice"), "amount": "1000" });
    world.post("arena", "/v1/servers/arena/withdraw", stake).expect(200);
    let mut wrong = Vec::new();
    for (method, template, kind, servers, people) in TABLE {
        for ((caller, of), expected) in CALLERS.iter().zip(&statuses(servers, people)) {
            if template.ends_with("/{address}") && *expected == 200 {
                make_spare(&world, method, template);
            }
            let resources = Resources::new(&world, template, method);
            let path = resources.path(template, "arena");
            let status = ask(&world, method, &path, *of, body(kind, &world));
            if status != *expected {
                wrong.push(format!("{method} {template} as {caller}: {status}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is missing is 404 for those who may, and never anything but 401, 403 or 404 for the others.
#[test]
fn a_missing_or_foreign_resource_is_not_found() {
    let world = world();
    let mut wrong = Vec::new();
    for (method, template, kind, servers, people) in TABLE.iter().filter(|(_, template, ..)| template.contains('{')) {
        for ((caller, of), expected) in CALLERS.iter().zip(&statuses(servers, people)) {
            let missing = Resources {
                hold: "hold_9999999".into(),
                record: "rec_9999999".into(),
                spawn: format!("spn_{}", "0".repeat(32)),
                withdrawal: format!("wd-{}", "0".repeat(32)),
                person: "nemo".into(),
                session: format!("ses_{}", "0".repeat(32)),
                program_key: "0123456789abcdef".into(),
                proposal: format!("prp_{}", "0".repeat(32)),
                player: player("stranger"),
                batch: 9_999_999,
                webhook: format!("whe_{}", "0".repeat(32)),
                alert: format!("alt_{}", "0".repeat(32)),
            };
            for server in ["arena", "nowhere"] {
                let path = missing.path(template, server).replace("alice", "stranger").replace("known", "unknown");
                let path = path.replace(DEPOSIT, "dep-of-stranger");
                let path = path.replace(&player("alice"), &player("stranger"));
                let has_other_variable = template.matches('{').count() > 1 || !template.contains("{server}");
                let is_any_wallet = template.contains("{wallet}") || template.ends_with("/freeze");
                let exists =
                    (server == "arena" && (!has_other_variable || is_any_wallet)) || template.ends_with("/freeze");
                let status = ask(&world, method, &path, *of, body(kind, &world));
                // A reversal is refused to everybody so far; a wallet that was never seen has no money.
                let is_fine = matches!(status, 401 | 403 | 404) || exists;
                if !is_fine || (*expected == 200 && !exists && status != 404) {
                    wrong.push(format!("{method} {path} as {caller}: {status}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
