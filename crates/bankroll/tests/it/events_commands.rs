//! `bankroll events` and `bankroll webhooks`, next to a node that runs.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    http_scenes::{Casino, Wallet, start},
    program::{Run, command, run},
    running::PATIENCE,
};

/// A command that runs until it is stopped, and the lines that it prints.
struct Printing {
    child: Child,
    lines: Receiver<String>,
}

impl Printing {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = command(folder);
        let mut child = command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (out, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || output.map_while(Result::ok).try_for_each(|line| out.send(line)));
        Self { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("it prints a line")
    }

    fn json(&self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    /// Ctrl-C.
    fn stop(mut self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(casino: &Casino, args: &str) -> Run {
    run(casino.folder.path(), &args.split_whitespace().collect::<Vec<_>>())
}

/// A place for Alice; the id of the spawn.
fn reserve(casino: &Casino, key: &str) -> String {
    let body = json!({ "player": Wallet::of("alice").address() }).to_string();
    let spawned = casino.arena.post_until_answered("/v1/servers/arena/spawns", key, &body).expect(200);
    spawned["spawn"].as_str().unwrap().to_owned()
}

#[test]
fn tail_prints_a_line_for_each_event_and_goes_on_after_a_restart() {
    let casino = Casino::open();
    let at = casino.folder.path().to_owned();
    let as_owner = Printing::start(&at, &["events", "tail", "--after", "0", "--type", "spawn.*", "--json"]);
    let as_server = ["events", "tail", "--after", "0", "--type", "spawn.*", "--server", "arena", "--key", "arena.key"];
    let as_server = Printing::start(&at, &as_server);
    let spawn = reserve(&casino, "one");
    let event = as_owner.json();
    assert_eq!((&event["type"], &event["resource"]), (&json!("spawn.reserved"), &json!(spawn)));
    let line = as_server.line();
    for part in ["spawn.reserved", &spawn, "server=arena", "amount=100"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let casino = casino.kill_and_start();
    let second = reserve(&casino, "two");
    assert_eq!(as_owner.json()["resource"], json!(second), "nothing twice, nothing missed");
    assert!(as_server.line().contains(&second));
    as_owner.stop();
    as_server.stop();
    let listed = program(&casino, "events list --type spawn.* --limit 1");
    let text = listed.ok();
    assert!(text.contains(&spawn) && text.contains("\nmore: --after "), "{text}");
    let page = program(&casino, "events list --type spawn.* --json").json();
    assert_eq!(page["events"].as_array().unwrap().len(), 2);
    program(&casino, "events list --type Spawn").fails(2, &["is not a type of events"]);
    casino.close();
}

#[test]
fn without_a_node_tail_prints_what_there_is_and_ends() {
    let casino = Casino::open();
    let spawn = reserve(&casino, "one");
    casino.node.signal("-TERM");
    let Casino { folder, node, .. } = casino;
    assert_eq!(node.ended().0, 0);
    let tail = run(folder.path(), &["events", "tail", "--after", "0", "--type", "spawn.*"]);
    assert!(
        tail.stdout.contains(&spawn) && tail.stderr.contains("no node runs here"),
        "{}{}",
        tail.stdout,
        tail.stderr
    );
    assert_eq!(tail.code, 0);
}

/// A casino whose webhooks may reach this machine.
fn casino_with_webhooks() -> Casino {
    let Casino { folder, node, arena } = Casino::open();
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    let (node, address) = start(folder.path(), &["notify.allow_private_targets=true", "notify.poll_ms=20"]);
    let arena = crate::http_scenes::Caller { address, ..arena };
    Casino { folder, node, arena }
}

/// A receiver, and where it listens.
fn listener(casino: &Casino, more: &[&str]) -> (Printing, String) {
    let args = [&["webhooks", "listen", "--port", "0", "--json"], more].concat();
    let listener = Printing::start(casino.folder.path(), &args);
    let url = listener.json()["listening"].as_str().unwrap().to_owned();
    (listener, url)
}

/// Reads until a delivery of this type is there.
fn delivery(listener: &Printing, kind: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "no {kind} is delivered");
        let line = listener.json();
        if line["event"]["type"] == kind {
            return line;
        }
    }
}

#[test]
fn a_webhook_is_made_tested_rotated_and_its_deliveries_are_checked_and_resent() {
    let casino = casino_with_webhooks();
    let (unchecked, url) = listener(&casino, &[]);
    let made = program(&casino, &format!("webhooks create {url}one --type spawn.* --json")).json();
    let (id, secret) = (made["webhook"].as_str().unwrap(), made["secret"].as_str().unwrap());
    program(&casino, &format!("webhooks test {id}")).ok();
    let test = delivery(&unchecked, "webhook.test");
    assert_eq!((&test["verified"], &test["path"]), (&Value::Null, &json!("/one")), "it has no secret");
    let (checked, url) = listener(&casino, &["--secret", secret]);
    let moved = program(&casino, &format!("webhooks set {id} --url {url}two")).ok();
    assert!(moved.contains(&format!("{url}two")) && !moved.contains("whsec_"), "{moved}");
    let spawn = reserve(&casino, "one");
    let first = delivery(&checked, "spawn.reserved");
    assert_eq!((&first["verified"], &first["event"]["resource"]), (&json!(true), &json!(spawn)));
    let event = first["id"].as_str().unwrap();
    program(&casino, &format!("webhooks rotate {id}")).ok();
    program(&casino, &format!("events resend {id} --event {event}")).ok();
    let again = delivery(&checked, "spawn.reserved");
    assert_eq!((&again["id"], &again["verified"]), (&first["id"], &json!(true)), "the old secret signs for a day");
    assert_eq!(again["event"], first["event"]);
    program(&casino, &format!("webhooks rotate {id} --overlap 0")).ok();
    program(&casino, &format!("webhooks test {id}")).ok();
    let refused = delivery(&checked, "webhook.test");
    assert_eq!((&refused["verified"], &refused["error"]), (&json!(false), &json!("no signature is of this secret")));
    let log = program(&casino, &format!("webhooks deliveries {id}")).ok();
    assert!(log.contains(event) && log.contains("webhook.test"), "{log}");
    let disabled = program(&casino, &format!("webhooks disable {id}")).ok();
    assert!(disabled.contains("disabled (operator)"), "{disabled}");
    program(&casino, &format!("webhooks test {id}")).fails(1, &["the webhook is disabled; enable it first"]);
    program(&casino, &format!("webhooks enable {id}")).ok();
    let listed = program(&casino, "webhooks list").ok();
    assert!(listed.contains(id) && listed.contains("deployment") && listed.contains("enabled"), "{listed}");
    assert_eq!(program(&casino, &format!("webhooks show {id} --json")).json()["revision"], 6);
    unchecked.stop();
    checked.stop();
    casino.close();
}

#[test]
fn a_game_server_has_webhooks_of_its_own() {
    let casino = casino_with_webhooks();
    let (listener, url) = listener(&casino, &[]);
    let as_server = "--server arena --key arena.key";
    let made = program(&casino, &format!("webhooks create {url} {as_server} --json")).json();
    assert_eq!(made["server"], "arena");
    reserve(&casino, "one");
    assert_eq!(delivery(&listener, "spawn.reserved")["event"]["server"], "arena");
    let listed = program(&casino, &format!("webhooks list {as_server}")).ok();
    assert!(listed.contains(made["webhook"].as_str().unwrap()), "{listed}");
    listener.stop();
    casino.close();
}

#[test]
fn events_are_forwarded_to_a_local_program_with_a_secret_that_stays() {
    let casino = Casino::open();
    let at = casino.folder.path().to_owned();
    let (unchecked, url) = listener(&casino, &[]);
    let forward = |url: &str| {
        let args = ["webhooks", "listen", "--forward-to", url, "--type", "spawn.*", "--after", "0"];
        Printing::start(&at, &args)
    };
    let first = forward(&url);
    assert_eq!(first.line(), format!("forwarding events to {url}"));
    let spawn = reserve(&casino, "one");
    assert_eq!(delivery(&unchecked, "spawn.reserved")["event"]["resource"], json!(spawn));
    let shown = first.line();
    let secret = shown.trim().strip_prefix("secret").unwrap().trim().to_owned();
    assert!(first.line().contains("spawn.reserved"));
    assert!(first.line().contains("-> 204 in "));
    first.stop();
    let (checked, url) = listener(&casino, &["--secret", &secret]);
    let second = forward(&url);
    let delivered = delivery(&checked, "spawn.reserved");
    assert_eq!((&delivered["verified"], &delivered["event"]["resource"]), (&json!(true), &json!(spawn)));
    second.stop();
    checked.stop();
    unchecked.stop();
    casino.close();
}
