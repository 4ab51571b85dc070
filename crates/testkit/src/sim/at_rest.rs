//! What is looked at when nothing goes on any more: the whole books, against what the chain and the askers make of them.

use std::collections::BTreeMap;

use bankroll_chains_simulated::U256;
use bankroll_ledger::{Account, Kind, Scope};
use bankroll_store::{AccountFilter, Audit, Reader};

use super::{
    asking::{Asked, Heard, What},
    people::{CAROLS, HOT},
    promises::{Broken, Promise},
    truth::{DEPOSIT_DEPTH, custody, ours, paid_in, shares},
    world::World,
};

impl World {
    /// Every promise, in full.
    pub fn check_rest(&mut self) -> Result<(), Broken> {
        self.check_step()?;
        self.audit()?;
        self.check_deposits()?;
        self.check_custody()?;
        self.check_balances()?;
        self.check_answers()?;
        self.audit()
    }

    fn audit(&self) -> Result<(), Broken> {
        let reader = Reader::open(self.books.ledger().location());
        let audited = reader.and_then(|reader| Audit::new(reader).run(|_| {}));
        audited.map(drop).map_err(|error| Promise::Recomputed.broken(error.to_string()))
    }

    /// Every final payment to us is credited once, and nothing else is.
    fn check_deposits(&self) -> Result<(), Broken> {
        let mut expected: BTreeMap<String, usize> = BTreeMap::new();
        for paid in paid_in(&self.chain(), &self.people).iter().filter(|paid| paid.confirmations >= DEPOSIT_DEPTH) {
            expected.insert(format!("{:#x}", paid.hash), 1);
        }
        let nets = self.truth.credits.iter().map(|(tx, (credits, reversed))| (tx, credits.len() - reversed.len()));
        let booked: BTreeMap<String, usize> =
            nets.filter(|(_, net)| *net > 0).map(|(tx, net)| (tx.clone(), net)).collect();
        if let Some(missing) = expected.keys().find(|tx| !booked.contains_key(*tx)) {
            return Err(Promise::CreditedAtLast.broken(format!("{missing} is final, and not credited")));
        }
        if let Some(extra) = booked.keys().find(|tx| !expected.contains_key(*tx)) {
            return Err(Promise::CreditedAtLast.broken(format!("{extra} is credited, and not on the chain")));
        }
        Ok(())
    }

    /// The wallets hold what the books say.
    fn check_custody(&self) -> Result<(), Broken> {
        for (text, address) in [(HOT, self.people.hot), (CAROLS, self.people.carols)] {
            let name = text.parse().map_err(|_| Promise::Custody.broken("no account's name"))?;
            let account = self.books.rows().reader().account_named(&name).ok().flatten();
            let booked = U256::from(account.map_or(0, |account| account.balance.units()));
            let held = self.chain().balance(address);
            if booked != held {
                return Err(Promise::Custody.broken(format!("{text} has {booked} in the books and {held} on chain")));
            }
        }
        Ok(())
    }

    /// Every account, by the one who has it, against what happened.
    fn check_balances(&self) -> Result<(), Broken> {
        let accounts = self.books.rows().reader().accounts(&AccountFilter::default(), 1_000);
        let accounts = accounts.map_err(|error| Promise::AddsUp.broken(error.to_string()))?;
        let mut booked: BTreeMap<String, i128> = BTreeMap::new();
        for account in &accounts {
            let (who, amount) = standing(account);
            *booked.entry(who).or_default() += amount;
            if !account.held.is_zero() {
                return Err(Promise::AddsUp.broken(format!("{} still holds {}", account.name, account.held)));
            }
        }
        booked.retain(|_, amount| *amount != 0);
        let expected = self.expected();
        let differs = |who: &&String| booked.get(*who) != expected.get(*who);
        match booked.keys().chain(expected.keys()).find(differs) {
            None => Ok(()),
            Some(who) => {
                let amount = |of: &BTreeMap<String, i128>| of.get(who).copied().unwrap_or_default();
                Err(Promise::AddsUp.broken(format!(
                    "{who} has {}, and should have {}",
                    amount(&booked),
                    amount(&expected)
                )))
            }
        }
    }

    /// What everybody should have: payments in, play, payouts, gas.
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
        for asked in self.asked.asked.iter().filter(|asked| asked.heard == Some(Heard::Done)) {
            add(format!("world of {}", asked.server), asked.into_world);
            add(format!("{} of {}", asked.player, asked.server), -asked.into_world);
        }
        for ours in ours(&chain, &self.people) {
            let given_out = signer.given_out.get(&ours.hash);
            let intent = given_out.filter(|given_out| !given_out.is_cancel);
            let intent = intent.and_then(|given_out| self.asked.intents.get(&given_out.intent));
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

    /// Everything that was ever asked, asked once more: the same answer, and nothing happens.
    fn check_answers(&mut self) -> Result<(), Broken> {
        let before = self.head()?;
        for place in 0..self.asked.asked.len() {
            let Asked { what, heard, .. } = &self.asked.asked[place];
            if let (What::Money(request), Some(heard)) = (what, heard) {
                let answer = self.books.ledger().apply(bankroll_ledger::Request::clone(request));
                let answer = answer.map_err(|error| Promise::Acknowledged.broken(error.to_string()))?;
                let same = match heard {
                    Heard::Done => answer.effects().is_ok(),
                    Heard::No(rejection) => answer.effects() == Err(*rejection),
                };
                if !answer.replayed || !same {
                    return Err(Promise::Acknowledged
                        .broken(format!("the books do not know that question {place} was {heard:?}")));
                }
            } else {
                self.ask_plainly(place)?;
            }
        }
        match self.head()? == before {
            true => Ok(()),
            false => Err(Promise::OneEffect.broken("asking everything once more changed the books")),
        }
    }

    fn head(&self) -> Result<u64, Broken> {
        let head = self.books.rows().reader().head();
        head.map(|head| head.seq.0).map_err(|error| Promise::Recomputed.broken(error.to_string()))
    }

    /// The ids of payouts whose askers were told yes.
    pub fn granted(&self) -> impl Iterator<Item = &String> {
        let granted = self.asked.asked.iter().filter(|asked| asked.heard == Some(Heard::Done));
        let ids = granted.filter_map(|asked| match &asked.what {
            What::Payout(wanted) => Some(bankroll_withdrawals::Intents::id(&wanted.server, &wanted.request_id)),
            What::Money(_) => None,
        });
        ids.filter_map(|id| self.asked.intents.get_key_value(&id.to_string()).map(|(id, _)| id))
    }
}

/// Who has an account, and how much of his it is. Debts count against him.
fn standing(account: &Account) -> (String, i128) {
    let amount = signed(account.balance.units());
    let who = owner_of(&account.name.to_string());
    (who, if account.name.kind == Kind::Debt { -amount } else { amount })
}

/// Who has an account of this name.
fn owner_of(text: &str) -> String {
    let name: bankroll_ledger::AccountName = text.parse().expect("an account's name");
    let server = match &name.scope {
        Scope::House => "house".to_owned(),
        Scope::Server(server) => server.to_string(),
    };
    match (name.kind, &name.owner) {
        (Kind::Custody, _) => custody_of(text),
        (Kind::NetworkFees, _) => "gas".into(),
        (Kind::House | Kind::Suspense, _) => name.kind.to_string(),
        (Kind::World, _) => format!("world of {server}"),
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
