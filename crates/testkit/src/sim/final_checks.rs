//! The checks at the end of a run, when all work has ended: the whole books, against the chain and the callers'
//! answers.

use std::collections::BTreeMap;

use bankroll_chains_simulated::U256;
use bankroll_ledger::{Account, AccountKind, Scope};
use bankroll_store::{AccountFilter, Audit, Reader};

use super::{
    callers::{SimAnswer, SimCall, SimCallBody},
    ground_truth::{DEPOSIT_DEPTH, custody, ours, paid_in, shares},
    people::{CAROLS, HOT},
    promises::{BrokenPromise, SafetyPromise},
    world::World,
};

impl World {
    /// Checks every promise in full.
    pub fn check_rest(&mut self) -> Result<(), BrokenPromise> {
        self.check_step()?;
        self.audit()?;
        self.check_deposits()?;
        self.check_custody()?;
        self.check_balances()?;
        self.check_answers()?;
        self.audit()
    }

    fn audit(&self) -> Result<(), BrokenPromise> {
        let reader = Reader::open(self.books.ledger().location());
        let audited = reader.and_then(|reader| Audit::new(reader).run(|_| {}));
        audited.map(drop).map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))
    }

    /// Every final payment to us is credited once, and nothing else is.
    fn check_deposits(&self) -> Result<(), BrokenPromise> {
        let mut expected: BTreeMap<String, usize> = BTreeMap::new();
        for paid in paid_in(&self.chain(), &self.people).iter().filter(|paid| paid.confirmations >= DEPOSIT_DEPTH) {
            expected.insert(format!("{:#x}", paid.hash), 1);
        }
        let nets = self.truth.credits.iter().map(|(tx, (credits, reversed))| (tx, credits.len() - reversed.len()));
        let booked: BTreeMap<String, usize> =
            nets.filter(|(_, net)| *net > 0).map(|(tx, net)| (tx.clone(), net)).collect();
        if let Some(missing) = expected.keys().find(|tx| !booked.contains_key(*tx)) {
            return Err(SafetyPromise::CreditedAtLast.broken(format!("{missing} is final, and not credited")));
        }
        if let Some(extra) = booked.keys().find(|tx| !expected.contains_key(*tx)) {
            return Err(SafetyPromise::CreditedAtLast.broken(format!("{extra} is credited, and not on the chain")));
        }
        Ok(())
    }

    /// The wallets hold what the books say.
    fn check_custody(&self) -> Result<(), BrokenPromise> {
        for (text, address) in [(HOT, self.people.hot), (CAROLS, self.people.carols)] {
            let name = text.parse().map_err(|_| SafetyPromise::Custody.broken("no account's name"))?;
            let account = self.books.rows().reader().account_named(&name).ok().flatten();
            let booked = U256::from(account.map_or(0, |account| account.balance.units()));
            let held = self.chain().balance(address.0.into());
            if booked != held {
                return Err(
                    SafetyPromise::Custody.broken(format!("{text} has {booked} in the books and {held} on chain"))
                );
            }
        }
        Ok(())
    }

    /// Every owner's balance against what happened.
    fn check_balances(&self) -> Result<(), BrokenPromise> {
        let accounts = self.books.rows().reader().accounts(&AccountFilter::default(), 1_000);
        let accounts = accounts.map_err(|error| SafetyPromise::AddsUp.broken(error.to_string()))?;
        let mut booked: BTreeMap<String, i128> = BTreeMap::new();
        for account in &accounts {
            let (who, amount) = owner_and_balance(account);
            *booked.entry(who).or_default() += amount;
            if !account.held.is_zero() {
                return Err(SafetyPromise::AddsUp.broken(format!("{} still holds {}", account.name, account.held)));
            }
        }
        booked.retain(|_, amount| *amount != 0);
        let expected = self.expected();
        let differs = |who: &&String| booked.get(*who) != expected.get(*who);
        match booked.keys().chain(expected.keys()).find(differs) {
            None => Ok(()),
            Some(who) => {
                let amount = |of: &BTreeMap<String, i128>| of.get(who).copied().unwrap_or_default();
                Err(SafetyPromise::AddsUp.broken(format!(
                    "{who} has {}, and should have {}",
                    amount(&booked),
                    amount(&expected)
                )))
            }
        }
    }

    /// Every owner's expected balance: payments in, play, payouts, gas.
    fn expected(&self) -> BTreeMap<String, i128> {
        let mut expected: BTreeMap<String, i128> = BTreeMap::new();
        let mut add = |who: String, amount: i128| *expected.entry(who).or_default() += amount;
        let (chain, signer) = (self.chain(), self.signer());
        for paid in paid_in(&chain, &self.people) {
            add(custody_of(custody(&self.people, paid.to)), signed(paid.value));
            for (account, amount) in shares(&self.people, paid.from, paid.to, paid.value) {
                add(owner_of(&account), signed(amount));
            }
        }
        for asked in self.callers.calls.iter().filter(|asked| asked.answer == Some(SimAnswer::Done)) {
            add(format!("world of {}", asked.server), asked.into_world);
            add(format!("{} of {}", asked.player, asked.server), -asked.into_world);
        }
        for ours in ours(&chain, &self.people) {
            let released = signer.released.get(&ours.hash);
            let intent = released.filter(|released| !released.is_cancel);
            let intent = intent.and_then(|released| self.callers.intents.get(&released.intent));
            let fee = signed(ours.fee);
            add(custody_of(HOT), -fee);
            match intent {
                Some(intent) => {
                    let player = format!("{} of {}", intent.player, intent.server);
                    add(custody_of(HOT), -signed(intent.amount));
                    add(player.clone(), -signed(intent.amount));
                    add(
                        if intent.is_players_gas { player } else { "gas".into() },
                        if intent.is_players_gas { -fee } else { fee },
                    );
                }
                None => add("gas".into(), fee),
            }
        }
        expected.retain(|_, amount| *amount != 0);
        expected
    }

    /// Repeats every call: the answers must be the same, and the books must not change.
    fn check_answers(&mut self) -> Result<(), BrokenPromise> {
        let before = self.head()?;
        for place in 0..self.callers.calls.len() {
            let SimCall { what, answer: heard, .. } = &self.callers.calls[place];
            if let (SimCallBody::Money(request), Some(heard)) = (what, heard) {
                let answer = self.books.ledger().apply(bankroll_ledger::Request::clone(request));
                let answer = answer.map_err(|error| SafetyPromise::Acknowledged.broken(error.to_string()))?;
                let same = match heard {
                    SimAnswer::Done => answer.effects().is_ok(),
                    SimAnswer::No(rejection) => answer.effects() == Err(*rejection),
                };
                if !answer.replayed || !same {
                    return Err(SafetyPromise::Acknowledged
                        .broken(format!("the books do not know that question {place} was {heard:?}")));
                }
            } else {
                self.submit_reliably(place)?;
            }
        }
        match self.head()? == before {
            true => Ok(()),
            false => Err(SafetyPromise::OneEffect.broken("asking everything once more changed the books")),
        }
    }

    fn head(&self) -> Result<u64, BrokenPromise> {
        let head = self.books.rows().reader().head();
        head.map(|head| head.seq.0).map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))
    }

    /// The ids of payouts that were accepted.
    pub fn granted(&self) -> impl Iterator<Item = &String> {
        let granted = self.callers.calls.iter().filter(|asked| asked.answer == Some(SimAnswer::Done));
        let ids = granted.filter_map(|asked| match &asked.what {
            SimCallBody::Payout(wanted) => Some(wanted.id()),
            SimCallBody::Money(_) => None,
        });
        ids.filter_map(|id| self.callers.intents.get_key_value(&id.to_string()).map(|(id, _)| id))
    }
}

/// An account's owner and balance. Debts count as negative.
fn owner_and_balance(account: &Account) -> (String, i128) {
    let amount = signed(account.balance.units());
    let who = owner_of(&account.name.to_string());
    (who, if account.name.kind == AccountKind::Debt { -amount } else { amount })
}

/// The owner of an account of this name.
fn owner_of(text: &str) -> String {
    let name: bankroll_ledger::AccountName = text.parse().expect("an account's name");
    let server = match &name.scope {
        Scope::House => "house".to_owned(),
        Scope::Server(server) => server.to_string(),
    };
    match (name.kind, &name.owner) {
        (AccountKind::Custody, _) => custody_of(text),
        (AccountKind::NetworkFees, _) => "gas".into(),
        (AccountKind::House | AccountKind::Suspense, _) => name.kind.to_string(),
        (AccountKind::World, _) => format!("world of {server}"),
        (_, Some(owner)) => format!("{owner} of {server}"),
        (_, None) => format!("fees of {server}"),
    }
}

fn custody_of(text: &str) -> String {
    format!("wallet {text}")
}

fn signed(amount: u128) -> i128 {
    i128::try_from(amount).expect("all coins together are far fewer")
}
