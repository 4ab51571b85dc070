//! Random conditions, people and restarts against a small model: one list of lives for each kind and subject.

use std::collections::BTreeMap;

use bankroll_alerts::{
    Alert, AlertAct, AlertKind,
    AlertKind::{DepositsOrphaned, DepositsSuspended, WalletStopped},
    AlertObservation, AlertState,
};
use fastrand::Rng;

use crate::world::{SECOND, World, condition};

/// Without delays, so that the model needs no clock; one of them ends by a person.
const KINDS: [AlertKind; 3] = [WalletStopped, DepositsSuspended, DepositsOrphaned];
const SUBJECTS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    /// The states of all alerts of a place, in the order of their openings.
    lives: BTreeMap<(AlertKind, String), Vec<AlertState>>,
}

impl Model {
    /// A round that observed `kind`, with these subjects.
    fn observe(&mut self, kind: AlertKind, holding: &[&str]) {
        for subject in SUBJECTS {
            let lives = self.lives.entry((kind, subject.to_owned())).or_default();
            let is_open = lives.last().is_some_and(|state| *state != AlertState::Closed);
            let happened_before = kind == DepositsOrphaned && !lives.is_empty();
            match (holding.contains(&subject), is_open) {
                (true, false) if !happened_before => lives.push(AlertState::Open),
                (false, true) if kind != DepositsOrphaned => *lives.last_mut().unwrap() = AlertState::Closed,
                _ => {}
            }
        }
    }
}

#[test]
fn alerts_are_what_a_small_model_says() {
    let seed = std::env::var("BANKROLL_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for run in 0_u64..6 {
        let seed = u64::wrapping_add(seed, run);
        println!("BANKROLL_TEST_SEED={seed}");
        live(&mut Rng::with_seed(seed));
    }
}

fn live(random: &mut Rng) {
    let (mut world, mut model) = (World::new(), Model::default());
    for _ in 0..80 {
        world.pass(random.u64(1..90) * SECOND);
        match random.u8(..10) {
            0..6 => observe(&mut world, &mut model, random),
            6..9 => act(&mut world, &mut model, random),
            _ => world.restart(),
        }
        assert_eq!(states(&world), model.lives_written(), "seed above");
    }
    let openings: usize = model.lives.values().map(Vec::len).sum();
    let opened = world.events().iter().filter(|kind| *kind == "alert.opened").count();
    assert_eq!(opened, openings, "one event for each opening");
    world.audit().unwrap();
}

fn observe(world: &mut World, model: &mut Model, random: &mut Rng) {
    let kind = *random.choice(&KINDS).unwrap();
    let holding: Vec<&str> = SUBJECTS.into_iter().filter(|_| random.bool()).collect();
    let conditions = holding.iter().map(|subject| condition(kind, subject, random.u64(1..5))).collect();
    // The answer of the writer may be lost: the round is done again, by the same process or by another.
    let observation = [AlertObservation::all(kind, conditions)];
    world.round(&observation);
    if random.u8(..4) == 0 {
        world.restart();
        assert_eq!(World::wrote(&world.round(&observation)), [""; 0]);
    }
    model.observe(kind, &holding);
}

fn act(world: &mut World, model: &mut Model, random: &mut Rng) {
    let all = world.all();
    let Some(alert) = random.choice(&all) else { return };
    let act = *random.choice(&[AlertAct::Acknowledge, AlertAct::Close]).unwrap();
    let has_changed = world.act(act, alert, random.choice(["olga", "omar"]).unwrap());
    let place = usize::try_from(alert.opening).unwrap() - 1;
    let life = &mut model.lives.get_mut(&(alert.kind, alert.subject.clone())).unwrap()[place];
    let after = match (act, *life) {
        (AlertAct::Acknowledge, AlertState::Open) => Some(AlertState::Acknowledged),
        (AlertAct::Close, AlertState::Open | AlertState::Acknowledged) => Some(AlertState::Closed),
        _ => None,
    };
    assert_eq!(has_changed, after.is_some(), "{act:?} of {alert:?}");
    *life = after.unwrap_or(*life);
}

impl Model {
    fn lives_written(&self) -> BTreeMap<(AlertKind, String), Vec<AlertState>> {
        self.lives
            .iter()
            .filter(|(_, lives)| !lives.is_empty())
            .map(|(place, lives)| (place.clone(), lives.clone()))
            .collect()
    }
}

fn states(world: &World) -> BTreeMap<(AlertKind, String), Vec<AlertState>> {
    let mut all = world.all();
    all.sort_by_key(|alert: &Alert| alert.opening);
    let mut states: BTreeMap<(AlertKind, String), Vec<AlertState>> = BTreeMap::new();
    for alert in all {
        let lives = states.entry((alert.kind, alert.subject)).or_default();
        assert_eq!(alert.opening, lives.len() as u64 + 1);
        lives.push(alert.state);
    }
    states
}
