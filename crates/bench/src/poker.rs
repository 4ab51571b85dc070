//! `bankroll bench poker`: the cost of a hand's proofs on one core of this machine, and the speed of the hand
//! evaluator.
//!
//! Every time is the processor time of the one thread that does the work, and the best of fifty runs (`--quick`: of
//! three), so that other load on the machine matters little. The random seed is fixed, so every run measures the same
//! work.

mod report;

use std::time::Duration;

use anyhow::Context;
use bankroll_deck::{
    Bn254, Curve, Deal, Deck, Destination, EqualityClaim, Grumpkin, HandId, HandKeys, Member, MemberRole, Parameters,
    Secp256k1, SecretKey, SeenBlindings, ShuffleMessage, ShuffleProof, ShuffleStep, Shuffling, verify_claims,
    verify_shuffles,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use super::evaluator;
use report::{PokerReport, PokerRow};

const RUNS: u32 = 50;
const QUICK_RUNS: u32 = 3;
const SHUFFLERS: usize = 7;
const CLAIMS: usize = 100;

/// Measures, and prints a table or JSON.
///
/// # Errors
/// If an honest proof is refused.
pub fn run(quick: bool, json: bool) -> anyhow::Result<()> {
    let runs = if quick { QUICK_RUNS } else { RUNS };
    if cfg!(debug_assertions) {
        super::log("this is a debug build: the targets are for a release build");
    }
    let mut rows = measure::<Secp256k1>(runs)?;
    rows.extend(measure::<Bn254>(runs)?);
    rows.extend(measure::<Grumpkin>(runs)?);
    rows.extend(evaluate(quick)?);
    let report = PokerReport { rows };
    if json {
        report.print_json();
        return Ok(());
    }
    report.print_table()
}

/// All rows of one curve.
fn measure<C: Curve>(runs: u32) -> anyhow::Result<Vec<PokerRow>> {
    super::log(&format!("proofs on {}, {runs} times each", C::NAME));
    let mut hand = BenchHand::<C>::new()?;
    let size = hand.parameters.size();
    let first = Shuffling::new(&hand.parameters, &hand.keys);
    let shuffle = best(runs, || first.shuffle_unproven(&mut hand.rng).context("there is a first shuffler"))?;
    let unproven = first.shuffle_unproven(&mut hand.rng).context("there is a first shuffler")?;
    let prove = best(runs, || Ok(unproven.prove(&hand.parameters, &mut hand.rng)))?;
    let messages = hand.shuffles()?;
    let (keys, parameters) = (&hand.keys, &hand.parameters);
    let contexts: Vec<_> = (0..).map_while(|step| keys.shuffle_context(step)).collect();
    let steps: Vec<ShuffleStep<'_, C>> =
        contexts.iter().zip(&messages).map(|(context, message)| step(context, message)).collect();
    // The second step: the first starts from open cards, which are cheaper.
    let (before, second) = (&messages[0].deck, &steps[1..2]);
    let single = best(runs, || Ok(verify_shuffles(parameters, keys.aggregate(), before, second)?))?;
    let first_deck = parameters.first_deck();
    let all = best(runs, || Ok(verify_shuffles(parameters, keys.aggregate(), &first_deck, &steps)?))?;
    let bytes = messages[0].encode();
    let decode = best(runs, || Ok(ShuffleMessage::<C>::decode(&bytes, size)?))?;
    let claims = hand.claims(&messages[SHUFFLERS - 1].deck)?;
    let together = best(runs, || Ok(verify_claims(&claims)?))?;
    // The targets are for the default curve only.
    let is_default = C::NAME == Secp256k1::NAME;
    let target = |ms: f64| is_default.then_some(ms);
    let row = |what, ms, target_ms| PokerRow::time(what, C::NAME, ms, target_ms);
    Ok(vec![
        row("shuffle 52 cards", shuffle, None),
        row("prove a shuffle", prove, target(15.0)),
        row("verify a shuffle", single, target(6.0)),
        row("verify 7 shuffles at once, each", all / SHUFFLERS as f64, target(4.0)),
        row("decode a shuffle message", decode, None),
        row("verify 100 equality proofs at once, each", together / CLAIMS as f64, target(0.1)),
        PokerRow::bytes("shuffle proof", C::NAME, ShuffleProof::<C>::encoded_bytes(size), is_default.then_some(6_000)),
        PokerRow::bytes("deck", C::NAME, Deck::<C>::encoded_bytes(size), None),
    ])
}

/// Random hands of seven cards evaluated per second, by our evaluator and by the best other crate, on the same hands.
fn evaluate(quick: bool) -> anyhow::Result<[PokerRow; 2]> {
    let (hands, time) = if quick { (20_000, Duration::ZERO) } else { (1_000_000, Duration::from_secs(3)) };
    super::log(&format!("hands of seven cards, {hands} random ones"));
    let rates = evaluator::measure(hands, time)?;
    Ok([
        PokerRow::rate("evaluate seven cards", rates.hands, rates.ours),
        PokerRow::rate("evaluate seven cards with aya_poker", rates.hands, rates.aya_poker),
    ])
}

fn step<'a, C: Curve>(context: &'a bankroll_deck::Context, message: &'a ShuffleMessage<C>) -> ShuffleStep<'a, C> {
    ShuffleStep { context, output: &message.deck, proof: &message.proof }
}

/// The least processor time of these calls, in milliseconds.
fn best<T>(runs: u32, mut work: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = thread_seconds();
        std::hint::black_box(work()?);
        best = best.min((thread_seconds() - start) * 1_000.0);
    }
    Ok(best)
}

/// The processor time of this thread.
#[cfg(unix)]
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Other systems offer only wall-clock time, which is longer.
#[cfg(not(unix))]
fn thread_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// A table with seven shufflers and one player.
struct BenchHand<C: Curve> {
    rng: ChaCha20Rng,
    parameters: Parameters<C>,
    keys: HandKeys<C>,
    secrets: Vec<SecretKey<C>>,
}

impl<C: Curve> BenchHand<C> {
    fn new() -> anyhow::Result<Self> {
        let mut rng = ChaCha20Rng::seed_from_u64(52);
        let id = HandId { deployment: "bench".into(), game: "poker".into(), hand: "1".into() };
        let (mut shufflers, mut secrets) = (Vec::new(), Vec::new());
        let mut admit = |actor: &str, role: MemberRole, secret: &SecretKey<C>| {
            let (key, proof) = secret.register(&id, actor, role, &mut rng);
            Member::admit(&id, actor, role, key, &proof)
        };
        for number in 0..SHUFFLERS {
            secrets.push(SecretKey::generate(&mut ChaCha20Rng::seed_from_u64(number as u64)));
            shufflers.push(admit(&format!("shuffler {number}"), MemberRole::Shuffler, &secrets[number])?);
        }
        let player = SecretKey::generate(&mut ChaCha20Rng::seed_from_u64(SHUFFLERS as u64));
        let player = admit("player", MemberRole::Player { seat: 0 }, &player)?;
        let keys = HandKeys::new(&id, &shufflers, &[player])?;
        Ok(Self { rng, parameters: Parameters::standard(), keys, secrets })
    }

    /// The messages of all shufflers.
    fn shuffles(&mut self) -> anyhow::Result<Vec<ShuffleMessage<C>>> {
        let mut shuffling = Shuffling::new(&self.parameters, &self.keys);
        let mut messages = Vec::new();
        while let Some(message) = shuffling.shuffle(&self.parameters, &mut self.rng) {
            shuffling.accept(&self.parameters, &message)?;
            messages.push(message);
        }
        Ok(messages)
    }

    /// The equality claims of a hundred blindings of hole cards.
    fn claims(&mut self, deck: &Deck<C>) -> anyhow::Result<Vec<EqualityClaim<C>>> {
        let plan = vec![Destination::Seat(0); self.parameters.size()];
        let deal = Deal::new(&self.keys, deck, &plan, SeenBlindings::default())?;
        let mut claims = Vec::new();
        for number in 0..CLAIMS {
            let (position, shuffler) = ((number / SHUFFLERS) as u8, number % SHUFFLERS);
            let blinding = deal.blind(shuffler as u8, &self.secrets[shuffler], position, &mut self.rng)?;
            claims.push(deal.claim(&blinding)?);
        }
        Ok(claims)
    }
}
