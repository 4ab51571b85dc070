//! Players and game servers, who ask the books for something until they have an answer.
//!
//! Each writes down what it asks before it asks, and asks the very same again while it has no answer: so every question ends
//! in one answer, which the model counts. Questions and answers are lost and repeated on the way.

use std::collections::BTreeMap;

use bankroll_ledger::{
    AccountId, Action, Amount, Key, Leg, Namespace, Principal, References, Rejection, Request, Scope,
};
use bankroll_orders::IntentId;
use bankroll_withdrawals::{GasPayer, IntentError, Policy, Wanted, cancel, intent};
use fastrand::Rng;

use super::{
    Bug,
    people::{CHAIN, PLAYERS, Player, SERVERS, home, name},
    promises::{Broken, Promise},
    world::World,
};

/// What a player sets aside for gas: 400 gwei a unit.
const FEE_CAP: u128 = 21_000 * 400_000_000_000;

#[derive(Default)]
pub(super) struct Asking {
    pub asked: Vec<Asked>,
    /// Payouts that were asked for, by their ids.
    pub intents: BTreeMap<String, IntentAsked>,
    pub accounts: BTreeMap<String, AccountId>,
    /// Requests that were answered and not carried out yet: a planted bug.
    pub deferred: Vec<Request>,
}

/// One question.
pub(super) struct Asked {
    pub what: What,
    pub server: &'static str,
    pub player: &'static str,
    /// How much goes into the world by it; negative if it comes out.
    pub into_world: i128,
    /// The answer, once it was heard.
    pub heard: Option<Heard>,
    times: u32,
}

pub(super) enum What {
    Money(Box<Request>),
    Payout(Box<Wanted>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Done,
    No(Rejection),
}

/// A payout that was asked for.
pub(super) struct IntentAsked {
    pub id: String,
    pub server: &'static str,
    pub player: &'static str,
    pub to: [u8; 20],
    pub amount: u128,
    pub is_players_gas: bool,
    /// When.
    pub at: u64,
}

impl World {
    pub fn open_accounts(&mut self) {
        let of_server = |server: &str| ["world", "developer", "ecosystem"].map(|kind| format!("{server}/{kind}/1"));
        let of_player = |player: &Player| {
            ["funds", "unallocated", "debt"].map(|kind| format!("{}/{kind}/1/{}", player.server, player.name))
        };
        let servers = SERVERS.iter().flat_map(|(server, ..)| of_server(server));
        let texts: Vec<String> = servers.chain(PLAYERS.iter().flat_map(of_player)).collect();
        let names = texts.iter().map(|text| text.parse().expect("an account's name")).collect();
        let opened = self.books.ledger().open_accounts(&Principal::System, names).expect("accounts can be opened");
        let numbered = texts.into_iter().zip(opened).map(|(text, number)| (text, number.expect("they may be open")));
        self.asked.accounts = numbered.collect();
    }

    fn account(&self, text: &str) -> AccountId {
        self.asked.accounts[text]
    }

    /// A game server moves money into its world, or back out of it.
    pub fn play(&mut self, random: &mut Rng, is_spend: bool) -> Result<(), Broken> {
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
        let place = self.write_down(What::Money(Box::new(request)), player, into_world);
        let verb = if is_spend { "spends" } else { "wins" };
        self.note(format_args!("question {place}: {} {verb} {amount}", player.name));
        self.ask(place, random)
    }

    /// A player wants money paid: out of what he has, or out of the world.
    pub fn withdraw(&mut self, random: &mut Rng, is_exit: bool) -> Result<(), Broken> {
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
        let wanted = Wanted {
            principal,
            server: name(player.server),
            request_id: name(&format!("payout-{}", self.asked.asked.len())),
            wallet: name(player.name),
            account: account.parse().expect("an account's name"),
            chain: name(CHAIN),
            to: home(player),
            amount: Amount::new(amount),
            gas: if is_players_gas { GasPayer::Player(Amount::new(fee_cap)) } else { GasPayer::House },
            exit: is_exit.then(|| Amount::new(amount + fee_cap)),
        };
        let id = intent::intent_id(&wanted.server, &wanted.request_id).to_string();
        let asked = IntentAsked {
            id: id.clone(),
            server: player.server,
            player: player.name,
            to: home(player).0,
            amount,
            is_players_gas,
            at: self.now,
        };
        self.asked.intents.insert(id.clone(), asked);
        let into_world = if is_exit { -i128::try_from(amount + fee_cap).unwrap_or(i128::MAX) } else { 0 };
        let place = self.write_down(What::Payout(Box::new(wanted)), player, into_world);
        self.note(format_args!("question {place}: {} wants {amount} paid, {}", player.name, short(&id)));
        self.ask(place, random)
    }

    pub fn cancel(&mut self, random: &mut Rng) {
        let open = |id: &&String| !self.truth.settled.contains_key(*id);
        let open: Vec<String> = self.asked.intents.keys().filter(open).cloned().collect();
        let Some(id) = random.choice(&open) else { return self.note("no payout to stop") };
        let intent = IntentId(id.parse().expect("an intent's id"));
        let told = match cancel(self.books.rows(), &intent, bankroll_ledger::Time(self.now)) {
            Ok(()) => "noted",
            Err(_) => "in vain",
        };
        self.note(format_args!("{} is to be stopped: {told}", short(id)));
    }

    /// Asks something again: what has no answer yet, or anything.
    pub fn ask_again(&mut self, random: &mut Rng) -> Result<(), Broken> {
        let unheard: Vec<usize> = self.unheard();
        let any: Vec<usize> = (0..self.asked.asked.len()).collect();
        let is_new = random.u8(..4) > 0 && !unheard.is_empty();
        let place = random.choice(if is_new { &unheard } else { &any });
        let Some(place) = place.copied() else { return self.noted("nothing was asked yet") };
        self.ask(place, random)
    }

    pub fn unheard(&self) -> Vec<usize> {
        (0..self.asked.asked.len()).filter(|place| self.asked.asked[*place].heard.is_none()).collect()
    }

    /// Another body under a key that was used: never anything but a no.
    pub fn conflict(&mut self, random: &mut Rng) -> Result<(), Broken> {
        let heard = self.asked.asked.iter().filter(|asked| asked.heard.is_some());
        let requests: Vec<Request> = heard
            .filter_map(|asked| match &asked.what {
                What::Money(request) => Some(Request::clone(request)),
                What::Payout(_) => None,
            })
            .collect();
        let Some(request) = random.choice(&requests) else { return self.noted("no key was used yet") };
        let mut other = request.clone();
        if let Action::Legs(legs) = &mut other.action {
            for leg in legs {
                if let Leg::Move { amount, .. } = leg {
                    *amount = Amount::new(amount.units() + 1);
                }
            }
        }
        let told = self.books.ledger().apply(other);
        self.counts.count("books: conflicting request");
        match told.map(|answer| answer.effects().map(drop)) {
            Ok(Err(Rejection::KeyReused)) | Err(_) => self.noted("a used key with another body: refused"),
            Ok(told) => Err(Promise::OneEffect.broken(format!("a used key with another body: {told:?}"))),
        }
    }

    fn key(&self, server: &str) -> Key {
        let text = format!("question-{}", self.asked.asked.len());
        Key { namespace: Namespace::Client, scope: Scope::Server(name(server)), text }
    }

    fn write_down(&mut self, what: What, player: Player, into_world: i128) -> usize {
        let asked = Asked { what, server: player.server, player: player.name, into_world, heard: None, times: 0 };
        self.asked.asked.push(asked);
        self.asked.asked.len() - 1
    }

    /// Asks, over a way on which questions and answers may be lost or come twice.
    pub fn ask(&mut self, place: usize, random: &mut Rng) -> Result<(), Broken> {
        self.asked.asked[place].times += 1;
        match random.u8(..10) {
            0 => {
                self.counts.count("books: request lost");
                return self.noted(format_args!("question {place} is lost"));
            }
            1 => {
                let _ = self.carry_out(place);
                self.counts.count("books: answer lost");
                return self.noted(format_args!("the answer to {place} is lost"));
            }
            2 => {
                let _ = self.carry_out(place);
                self.counts.count("books: request repeated");
            }
            _ => {}
        }
        self.ask_plainly(place)
    }

    /// Asks, and hears what the books say.
    pub fn ask_plainly(&mut self, place: usize) -> Result<(), Broken> {
        let told = match self.acknowledge_early(place) {
            Some(told) => Ok(told),
            None => self.carry_out(place),
        };
        let told = match told {
            Ok(told) => told,
            Err(why) => return self.noted(format_args!("question {place} has no answer: {why}")),
        };
        self.note(format_args!("the answer to {place} is {told:?}"));
        match self.asked.asked[place].heard.replace(told) {
            Some(before) if before != told => {
                Err(Promise::OneEffect.broken(format!("question {place} was answered {before:?}, and now {told:?}")))
            }
            _ => Ok(()),
        }
    }

    fn carry_out(&self, place: usize) -> Result<Heard, String> {
        if self.books.has_ended() {
            return Err("the process has ended".into());
        }
        let asked = &self.asked.asked[place];
        let told = match &asked.what {
            What::Money(request) => {
                let mut request = Request::clone(request);
                if self.bug == Some(Bug::KeyDropped) && asked.times > 1 {
                    request.key.text = format!("{}-{}", request.key.text, asked.times);
                }
                let answer = self.books.ledger().apply(request).map_err(|error| error.to_string())?;
                answer.effects().map(drop)
            }
            What::Payout(wanted) => {
                let policy = Policy { at_once: Amount::new(u128::MAX) };
                match intent::create(wanted, policy, self.books.ledger(), self.books.rows()) {
                    Ok(_) => Ok(()),
                    Err(IntentError::Rejected(rejection)) => Err(rejection),
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        Ok(told.map_or_else(Heard::No, |()| Heard::Done))
    }

    /// The planted bug: "done" is said as soon as memory says that it will be.
    fn acknowledge_early(&mut self, place: usize) -> Option<Heard> {
        let asked = &self.asked.asked[place];
        let What::Money(request) = &asked.what else { return None };
        if self.bug != Some(Bug::AcknowledgedBeforeCommit) || asked.heard.is_some() {
            return None;
        }
        let Action::Legs(legs) = &request.action else { return None };
        let Some(Leg::Move { from, amount, .. }) = legs.first() else { return None };
        let account = self.books.rows().reader().account(*from).ok()??;
        let enough = account.balance.checked_sub(account.held).is_some_and(|available| available >= *amount);
        let request = Request::clone(request);
        enough.then(|| {
            self.asked.deferred.push(request);
            Heard::Done
        })
    }

    /// Carries out what was answered before.
    pub fn flush_deferred(&mut self) {
        for request in std::mem::take(&mut self.asked.deferred) {
            let _ = self.books.ledger().apply(request);
        }
    }
}

fn funds_of(player: Player) -> String {
    format!("{}/funds/1/{}", player.server, player.name)
}

fn buy_in_of(player: Player) -> u128 {
    SERVERS.iter().find(|(server, ..)| *server == player.server).map_or(1, |(_, buy_in, ..)| *buy_in)
}

/// An intent's id as the history tells it.
pub(super) fn short(id: &str) -> String {
    let from = id.find("wd-").unwrap_or_default();
    id.get(from..from + 9).unwrap_or(id).to_owned()
}
