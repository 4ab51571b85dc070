//! Keys: one key, one effect, for ever; and no principal can use another's.

use super::story::{Story, check, principal};
use crate::{IdempotencyKey, Namespace, Recall, Scope, recall};

#[test]
fn the_same_request_again_gets_the_same_answer() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60  applied
         k1 game_server: move alice -> world 60  applied again
         k2 game_server: move alice -> world 60  insufficient_funds
         deposit d2 100 -> alice
         k2 game_server: move alice -> world 60  insufficient_funds again
         k3 game_server: move alice -> world 60  applied",
        "vault 200, world 120, alice 80",
    );
}

#[test]
fn the_same_key_for_something_else_is_refused() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 60                      applied
         k1 game_server: move alice -> world 61                      key_reused
         k1 game_server: move bob -> world 60                        key_reused
         k1 game_server: hold alice 60                               key_reused
         k1 game_server: move alice -> world 60, make spawns/s1 a=b  key_reused",
        "vault 100, world 60, alice 40",
    );
}

#[test]
fn a_pause_or_a_form_error_leaves_the_key_free() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: move alice -> world 0                                   amount_zero
         k1 game_server: move alice -> world 60, need servers/arena spawns=open  server_paused
         s1 system: move alice -> vault 1, make servers/arena spawns=open        applied
         k1 game_server: move alice -> world 60, need servers/arena spawns=open  applied",
        "vault 99, world 60, alice 39",
    );
}

#[test]
fn equal_texts_in_other_namespaces_and_scopes_are_other_keys() {
    check(
        "open rival.alice rival/funds/1/alice
         open rival.world rival/world/1
         deposit k1 100 -> alice
         deposit k2 100 -> rival.alice
         k1 game_server: move alice -> world 1                     applied
         k1 game_server(rival): move rival.alice -> rival.world 1  applied
         k1 user(alice): hold alice 1                              applied h1
         k1 system: move alice -> vault 1                          applied",
        "vault 199, world 1, alice 98 held 1, rival.alice 99, rival.world 1",
    );
}

/// A game that names its key after a player takes nothing from the player: they are two keys.
#[test]
fn no_other_principal_can_occupy_a_players_key() {
    check(
        "deposit d1 100 -> alice
         alice/k1 game_server: move alice -> world 1         applied
         k1 user(alice): hold alice 1                        applied h1
         alice/k2@player game_server: move alice -> world 1  key_not_allowed
         alice/k2@player developer: hold developer 1         key_not_allowed
         alice/k2@player admin(ann+ben): hold alice 1        key_not_allowed
         alice/k2@player indexer: move vault -> alice 1      key_not_allowed
         alice/k2@player tables: move alice -> world 1       key_not_allowed
         alice/k2@player system: hold alice 1                key_not_allowed
         k2@client user(alice): hold alice 1                 key_not_allowed
         k2@system user(alice): hold alice 1                 key_not_allowed
         k2 user(alice): hold alice 1                        applied h2",
        "vault 100, world 1, alice 99 held 2",
    );
}

/// One text, three askers of one server: three keys.
#[test]
fn a_game_server_its_developer_and_an_operator_cannot_occupy_each_others_keys() {
    check(
        "deposit d1 100 -> alice
         k1 game_server: hold alice 1             applied h1
         k1 admin(ann+ben): move alice -> bob 1   applied
         k1 admin(ben+ann): move alice -> bob 1   applied
         k1 developer: hold developer 1           insufficient_funds",
        "vault 100, alice 98 held 1, bob 2",
    );
}

/// Which namespaces each principal may write keys in: its own server's, another server's, and the house's scope.
#[test]
fn no_caller_can_occupy_a_key_of_the_system() {
    let namespaces = [
        (Namespace::Client, "client"),
        (Namespace::Deposits, "deposits"),
        (Namespace::Payouts, "payouts"),
        (Namespace::Tables, "tables"),
        (Namespace::Hot, "hot"),
        (Namespace::System, "system"),
        (Namespace::Player, "player"),
        (Namespace::Registry, "registry"),
    ];
    let line = |who: &str, text: &str| {
        let (principal, _) = principal(who);
        let may = |scope: &str| {
            let scope: Scope = scope.parse().unwrap();
            let legal = namespaces.iter().filter(|(namespace, _)| principal.may_use_key(*namespace, &scope, text));
            legal.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
        };
        [may("arena"), may("rival"), may("@house")].join(" | ")
    };
    assert_eq!(line("game_server", "k1"), "client |  | ");
    assert_eq!(line("developer", "developer/k1"), "client |  | ");
    assert_eq!(line("developer", "k1"), " |  | ");
    assert_eq!(line("game_server", "developer/k1"), " |  | ");
    assert_eq!(line("game_server", "admin/ann/k1"), " |  | ");
    assert_eq!(line("user(alice)", "alice/k1"), "player | player | ");
    assert_eq!(line("user(alice)", "k1"), " |  | ");
    assert_eq!(line("user(alice)", "bob/k1"), " |  | ");
    assert_eq!(line("user(alice)", "alice2/k1"), " |  | ");
    assert_eq!(line("user(alice)", "alice"), " |  | ");
    assert_eq!(line("game_server", "alice/k1"), "client |  | ");
    assert_eq!(line("game_server(alice)", "alice/k1"), " |  | ");
    let both = "client registry";
    assert_eq!(line("admin(ann+ben)", "admin/ann/k1"), [both; 3].join(" | "));
    for foreign in ["k1", "admin/ben/k1", "admin/ann", "admin/ann2/k1", "developer/k1"] {
        assert_eq!(line("admin(ann+ben)", foreign), " |  | ", "{foreign}");
    }
    assert_eq!(line("indexer", "k1"), "deposits | deposits | deposits");
    assert_eq!(line("tables", "k1"), "tables | tables | tables");
    let systems = "deposits payouts tables hot system registry";
    assert_eq!(line("system", "k1"), [systems; 3].join(" | "));
}

#[test]
fn a_key_has_1_to_255_bytes_and_no_control_characters() {
    let mut story = Story::new();
    story.run("deposit d1 100 -> alice");
    let mut ask = |text: &str| {
        let mut request = story.read("k1 game_server: move alice -> world 1");
        text.clone_into(&mut request.key.text);
        story.ask(request)
    };
    let two_bytes_each = |count: usize| "é".repeat(count);
    assert_eq!(ask(&"k".repeat(255)), "applied");
    assert_eq!(ask(&"k".repeat(256)), "key_malformed");
    assert_eq!(ask(&two_bytes_each(127)), "applied");
    assert_eq!(ask(&two_bytes_each(128)), "key_malformed");
    assert_eq!(ask(" "), "applied");
    for malformed in ["", "k\n", "\0", "k\u{7f}", "k\u{85}", "\u{1b}[2J"] {
        assert_eq!(ask(malformed), "key_malformed", "{malformed:?}");
    }
}

fn key(namespace: Namespace, scope: &str, text: &str) -> IdempotencyKey {
    IdempotencyKey { namespace, scope: scope.parse().unwrap(), text: text.to_owned() }
}

/// What every store has on disk. Each is the head of SHA-256 over namespace, scope and text:
/// `printf '\0\1arena\0k1' | sha256sum`, `printf '\1\0k1' | sha256sum`, `printf '\6\1arena\0alice/k1' | sha256sum`.
#[test]
fn fingerprints_never_change() {
    let arena = key(Namespace::Client, "arena", "k1").fingerprint();
    assert_eq!(format!("{:032x}", arena.0), "7d5ac846f24e0f9e5623db1e3e72c2e6");
    let house = key(Namespace::Deposits, "@house", "k1").fingerprint();
    assert_eq!(format!("{:032x}", house.0), "0cb3374a9725b62d26dd57b9ee69499a");
    let alice = key(Namespace::Player, "arena", "alice/k1").fingerprint();
    assert_eq!(format!("{:032x}", alice.0), "af922218d9d89cd191c33613e507941e");
}

#[test]
fn fingerprints_differ_wherever_keys_do() {
    let keys = [
        key(Namespace::Client, "arena", "k1"),
        key(Namespace::Client, "arena", "k2"),
        key(Namespace::Client, "aren", "ak1"),
        key(Namespace::Client, "arenak", "1"),
        key(Namespace::Client, "@house", "k1"),
        key(Namespace::Client, "@house", "arenak1"),
        key(Namespace::Deposits, "arena", "k1"),
        key(Namespace::Payouts, "arena", "k1"),
        key(Namespace::Tables, "arena", "k1"),
        key(Namespace::Hot, "arena", "k1"),
        key(Namespace::System, "arena", "k1"),
        key(Namespace::Player, "arena", "k1"),
    ];
    let mut prints = keys.each_ref().map(|key| key.fingerprint());
    prints.sort();
    assert!(prints.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn requests_are_compared_by_key_and_then_by_body() {
    let story = Story::new();
    let asked = story.read("k1 game_server: move alice -> world 60");
    assert_eq!(recall(&asked, &asked.clone()), Recall::Replay);
    assert_eq!(recall(&asked, &story.read("k1 game_server: move alice -> world 61")), Recall::KeyReused);
    assert_eq!(recall(&asked, &story.read("k2 game_server: move alice -> world 60")), Recall::Unrelated);
    // The key is not part of the body.
    assert_eq!(asked.body_hash(), story.read("k2 game_server: move alice -> world 60").body_hash());
}
