//! The requests of players and game servers: play, payouts, cancellations, and requests that must be rejected.

use bankroll_ledger::{
    Action, Amount, IdempotencyKey, Leg, Namespace, Principal, References, Rejection, Request, Scope, Time,
};
use bankroll_orders::IntentId;
use bankroll_withdrawals::{GasPayer, Intents, WithdrawalRequest};
use fastrand::Rng;

use super::{
    callers::{RequestedPayout, SimCallBody, short},
    people::{CHAIN, PLAYERS, SERVERS, SimPlayer, home, name},
    promises::{BrokenPromise, SafetyPromise},
    world::World,
};

/// What a player reserves for gas: 400 gwei a unit.
const FEE_CAP: u128 = 21_000 * 400_000_000_000;

impl World {
    /// A game server moves money into its game, or out of it.
    pub fn play(&mut self, random: &mut Rng, is_spend: bool) -> Result<(), BrokenPromise> {
        let player = *random.choice(&PLAYERS).expect("a player");
        let buy_in = buy_in_of(player);
        let amount = random.u128(1..=buy_in);
        let (funds, world) = (self.account(&funds_of(player)), self.account(&format!("{}/world/1", player.server)));
        let (from, to) = if is_spend { (funds, world) } else { (world, funds) };
        let request = Request {
            key: self.key(player.server),
            principal: Principal::GameServer(name(player.server)),
            confirmation: None,
            action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(amount) }]),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        };
        let into_world = i128::try_from(amount).unwrap_or(i128::MAX);
        let into_world = if is_spend { into_world } else { -into_world };
        let place = self.record_call(SimCallBody::Money(Box::new(request)), player, into_world);
        let verb = if is_spend { "spends" } else { "wins" };
        self.note(format_args!("question {place}: {} {verb} {amount}", player.name));
        self.submit(place, random)
    }

    /// A player requests a payout: from their account, or from the game.
    pub fn withdraw(&mut self, random: &mut Rng, is_exit: bool) -> Result<(), BrokenPromise> {
        let player = *random.choice(&PLAYERS).expect("a player");
        let amount = random.u128(1..=buy_in_of(player) / if is_exit { 2 } else { 1 });
        let is_players_gas = random.bool();
        let unallocated = format!("{}/unallocated/1/{}", player.server, player.name);
        let account = if !is_exit && random.u8(..3) == 0 { unallocated } else { funds_of(player) };
        let fee_cap = if is_players_gas { FEE_CAP } else { 0 };
        let principal = match is_exit {
            true => Principal::GameServer(name(player.server)),
            false => Principal::User(name(player.name)),
        };
        let wanted = WithdrawalRequest {
            principal,
            server: name(player.server),
            request_id: name(&format!("payout-{}", self.callers.calls.len())),
            wallet: name(player.name),
            account: account.parse().expect("an account's name"),
            chain: name(CHAIN),
            to: home(player),
            amount: Amount::new(amount),
            gas: if is_players_gas { GasPayer::Player(Amount::new(fee_cap)) } else { GasPayer::House },
            exit: is_exit.then(|| Amount::new(amount + fee_cap).into()),
            consent: None,
        };
        let id = wanted.id().to_string();
        let asked = RequestedPayout {
            id: id.clone(),
            server: player.server,
            player: player.name,
            to: home(player),
            amount,
            is_players_gas,
            at: self.now,
        };
        self.callers.intents.insert(id.clone(), asked);
        let into_world = if is_exit { -i128::try_from(amount + fee_cap).unwrap_or(i128::MAX) } else { 0 };
        let place = self.record_call(SimCallBody::Payout(Box::new(wanted)), player, into_world);
        self.note(format_args!("question {place}: {} wants {amount} paid, {}", player.name, short(&id)));
        self.submit(place, random)
    }

    pub fn cancel(&mut self, random: &mut Rng) {
        let open = |id: &&String| !self.truth.settled.contains_key(*id);
        let open: Vec<String> = self.callers.intents.keys().filter(open).cloned().collect();
        let Some(id) = random.choice(&open) else { return self.note("no payout to stop") };
        let intent = IntentId(id.parse().expect("an intent's id"));
        let outcome = match Intents::cancel(self.books.rows(), &intent, Time(self.now)) {
            Ok(()) => "noted",
            Err(_) => "in vain",
        };
        self.note(format_args!("{} is to be stopped: {outcome}", short(id)));
    }

    /// Another body under a used key: always rejected.
    pub fn conflict(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let heard = self.callers.calls.iter().filter(|asked| asked.answer.is_some());
        let requests: Vec<Request> = heard
            .filter_map(|asked| match &asked.what {
                SimCallBody::Money(request) => Some(Request::clone(request)),
                SimCallBody::Payout(_) => None,
            })
            .collect();
        let Some(request) = random.choice(&requests) else { return self.note_ok("no key was used yet") };
        let mut other = request.clone();
        if let Action::Legs(legs) = &mut other.action {
            for leg in legs {
                if let Leg::Move { amount, .. } = leg {
                    *amount = Amount::new(amount.units() + 1);
                }
            }
        }
        let answer = self.books.ledger().apply(other);
        self.counts.count("books: conflicting request");
        match answer.map(|answer| answer.effects().map(drop)) {
            Ok(Err(Rejection::KeyReused)) | Err(_) => self.note_ok("a used key with another body: refused"),
            Ok(answer) => Err(SafetyPromise::OneEffect.broken(format!("a used key with another body: {answer:?}"))),
        }
    }

    fn key(&self, server: &str) -> IdempotencyKey {
        let text = format!("question-{}", self.callers.calls.len());
        IdempotencyKey { namespace: Namespace::Client, scope: Scope::Server(name(server)), text }
    }
}

fn funds_of(player: SimPlayer) -> String {
    format!("{}/funds/1/{}", player.server, player.name)
}

fn buy_in_of(player: SimPlayer) -> u128 {
    SERVERS.iter().find(|(server, ..)| *server == player.server).map_or(1, |(_, buy_in, ..)| *buy_in)
}
