//! Whatever people send, in whatever order and how often: the books carry each proposal out at most once, with enough
//! different people, with the content that they signed.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::world::{World, funds_of};

const STEPS: usize = 60;

/// What a story knows of a proposal.
struct Known {
    content: Value,
    /// Every person who signed exactly this content and was not refused.
    signed: BTreeSet<&'static str>,
}

/// The steps of one story, with everything that the next ones need.
struct Story {
    world: World,
    rng: Rng,
    proposals: BTreeMap<String, Known>,
    /// Requests that were sent: author, path, key, body.
    sent: Vec<(&'static str, String, String, Value)>,
}

const PEOPLE: [&str; 6] = ["olga", "omar", "otto", "anna", "vera", "sam"];

impl Story {
    fn new(seed: u64) -> Self {
        let world = World::new();
        world.hire_all();
        world.give(&funds_of("arena", "alice"), 1_000_000);
        Self { world, rng: Rng::with_seed(seed), proposals: BTreeMap::new(), sent: Vec::new() }
    }

    fn person(&mut self) -> &'static str {
        PEOPLE[self.rng.usize(..PEOPLE.len())]
    }

    fn step(&mut self) {
        match self.rng.u8(..10) {
            0..=2 => self.propose(),
            3..=6 => self.confirm(),
            7 => self.retry(),
            8 => self.change_people(),
            _ => self.world.pass(self.rng.u64(1..120)),
        }
    }

    fn propose(&mut self) {
        let (of, amount) = (self.person(), self.rng.u32(1..1_000));
        let content = json!({
            "kind": "transfer", "from": funds_of("arena", "alice"), "to": "arena/ecosystem/1",
            "amount": amount.to_string(), "reason": "property",
        });
        let body = json!({ "content": content, "lifetime_seconds": self.rng.u32(60..600) });
        self.send(of, "/v1/proposals".into(), body);
    }

    fn confirm(&mut self) {
        let of = self.person();
        let Some(id) = self.any_proposal() else { return };
        let mut content = self.proposals[&id].content.clone();
        if self.rng.u8(..5) == 0 {
            content["amount"] = json!("999999");
        }
        let end = if self.rng.u8(..8) == 0 { "reject" } else { "confirm" };
        let body = if end == "reject" { json!({}) } else { json!({ "content": content }) };
        self.send(of, format!("/v1/proposals/{id}/{end}"), body);
    }

    fn any_proposal(&mut self) -> Option<String> {
        let ids: Vec<&String> = self.proposals.keys().collect();
        if ids.is_empty() { None } else { Some(ids[self.rng.usize(..ids.len())].clone()) }
    }

    /// The same request again, or its body under the name of another.
    fn retry(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        let (of, path, key, body) = self.sent[self.rng.usize(..self.sent.len())].clone();
        let of = if self.rng.bool() { of } else { self.person() };
        self.deliver(of, path, key, body);
    }

    fn change_people(&mut self) {
        let name = PEOPLE[self.rng.usize(1..PEOPLE.len())];
        if self.rng.bool() {
            self.world.sign("olga", "POST", &format!("/v1/operators/{name}/suspend"), json!({}));
        } else {
            let content = json!({ "kind": "reinstate", "person": name });
            let proposed = self.world.propose("olga", &content);
            if proposed.status == 200 {
                let with = if name == "omar" { "anna" } else { "omar" };
                self.world.confirm(with, &proposed.body, &content);
            }
        }
    }

    fn send(&mut self, of: &'static str, path: String, body: Value) {
        let key = format!("property-{}", self.sent.len());
        self.sent.push((of, path.clone(), key.clone(), body.clone()));
        self.deliver(of, path, key, body);
    }

    fn deliver(&mut self, of: &'static str, path: String, key: String, body: Value) {
        let reply = self.world.sign_with(of, "POST", &path, &key, body.clone());
        if reply.status != 200 || path.ends_with("/reject") {
            return;
        }
        let id = reply.body["proposal"].as_str().unwrap().to_owned();
        let content = body["content"].clone();
        let known = self.proposals.entry(id).or_insert_with(|| Known { content: content.clone(), signed: [].into() });
        assert_eq!(known.content, content, "a signature over another content was taken");
        known.signed.insert(of);
    }

    /// The money that moved is that of the executed proposals, and each had two people.
    fn check(&self) -> usize {
        let (mut moved, mut executed) = (0_u64, 0);
        for (id, known) in &self.proposals {
            let shown = self.world.look("olga", &format!("/v1/proposals/{id}")).expect(200);
            assert_eq!(shown["content"], known.content);
            if shown["outcome"]["state"] == "executed" {
                assert!(known.signed.len() >= 2, "{id} was carried out for {:?}", known.signed);
                executed += 1;
                moved += known.content["amount"].as_str().unwrap().parse::<u64>().unwrap();
            }
        }
        let (ecosystem, _) = self.world.balance("olga", "arena/ecosystem/1");
        assert_eq!(ecosystem, (300 + moved).to_string(), "each executed proposal moved its money once");
        executed
    }
}

#[test]
fn no_order_of_requests_lets_one_person_complete_what_needs_two() {
    let number = |variable| std::env::var(variable).ok().map(|text| text.parse::<u64>().unwrap());
    let (first, soak) = (number("BANKROLL_TEST_SEED").unwrap_or(0), number("BANKROLL_SOAK_SECONDS"));
    let ends = soak.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let goes_on = |round: &u64| ends.map_or(*round < 4, |ends| *round == 0 || Instant::now() < ends);
    let (mut rounds, mut executed) = (0, 0);
    for round in (0..).take_while(goes_on) {
        let mut story = Story::new(first.wrapping_add(round));
        (0..STEPS).for_each(|_| story.step());
        executed += story.check();
        rounds += 1;
    }
    println!("{rounds} stories from seed {first}: {executed} proposals were carried out");
    assert!(rounds < 4 || executed > 0, "no story completed anything: it proves nothing");
}
