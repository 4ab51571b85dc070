//! The checks at the end of a run, when all work has ended: the whole books, against the chain and the callers'
//! answers.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_chains_simulated::{
    U256,
    contracts::{DOLLAR, TAXED},
};
use bankroll_ledger::{Account, AccountKind, AssetId, Scope};
use bankroll_orders::Address;
use bankroll_store::{
    AccountFilter, Audit, Reader,
    columns::{number_of, parsed, text_of},
};

use super::{
    callers::{SimAnswer, SimCall, SimCallBody},
    ground_truth::{DEPOSIT_DEPTH, custody, ours, paid_in, shares},
    people::HOT,
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
        audited.map(drop).map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))?;
        let rows = Reader::open(self.books.ledger().location());
        let rows = rows.map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))?;
        let audited = bankroll_deposits::audit::run(&rows);
        audited.map(drop).map_err(|error| SafetyPromise::Recomputed.broken(error.to_string()))
    }

    /// Every final payment to us is credited once, and nothing else is.
    fn check_deposits(&self) -> Result<(), BrokenPromise> {
        let mut expected: BTreeMap<String, usize> = BTreeMap::new();
        let held = self.held()?;
        for paid in paid_in(&self.chain(), &self.people).iter().filter(|paid| paid.confirmations >= DEPOSIT_DEPTH) {
            if !held.contains_key(&paid.id) {
                expected.insert(paid.id.clone(), 1);
            }
        }
        // The token that keeps a tenth has no identity of its own: its sums are compared.
        let is_taxed = self.taxed()?;
        let nets = self.truth.credits.iter().map(|(tx, (credits, reversed))| (tx, credits.len() - reversed.len()));
        let booked: BTreeMap<String, usize> = nets
            .filter(|(id, net)| *net > 0 && !is_taxed.contains(id.as_str()))
            .map(|(tx, net)| (tx.clone(), net))
            .collect();
        if let Some(missing) = expected.keys().find(|tx| !booked.contains_key(*tx)) {
            return Err(SafetyPromise::CreditedAtLast.broken(format!("{missing} is final, and not credited")));
        }
        if let Some(extra) = booked.keys().find(|tx| !expected.contains_key(*tx)) {
            return Err(SafetyPromise::CreditedAtLast.broken(format!("{extra} is credited, and not on the chain")));
        }
        Ok(())
    }

    /// The wallets hold what the books say, and what is held for a person, of every asset.
    fn check_custody(&self) -> Result<(), BrokenPromise> {
        let held_rows = self.held()?;
        for (asset, address) in (1..=3).flat_map(|asset| [(asset, self.people.hot), (asset, self.people.carols)]) {
            let text = custody(&self.people, address, asset);
            let name = text.parse().map_err(|_| SafetyPromise::Custody.broken("no account's name"))?;
            let account = self.books.rows().reader().account_named(&name).ok().flatten();
            let booked = account.map_or(0, |account| account.balance.units());
            let chain = self.chain();
            let has = match asset {
                1 => chain.balance(address.0.into()),
                2 => chain.token_balance(DOLLAR, address.0.into()),
                _ => chain.token_balance(TAXED, address.0.into()),
            };
            let real: Vec<String> = paid_in(&chain, &self.people).into_iter().map(|paid| paid.id).collect();
            drop(chain);
            // What nobody sent is held and is not there.
            let of_account = held_rows.iter().filter(|(_, row)| (row.0, row.1) == (asset, address));
            let counts = |id: &String| asset == 3 || real.contains(id);
            let held: u128 = of_account.filter(|(id, _)| counts(id)).map(|(_, row)| row.2).sum();
            if U256::from(booked + held) != has {
                let what = format!("{text} has {booked} in the books, {held} are held, and {has} are on chain");
                return Err(SafetyPromise::Custody.broken(what));
            }
        }
        Ok(())
    }

    /// Deposits that wait for a person, with asset, address and value: only what no header vouches for.
    fn held(&self) -> Result<BTreeMap<String, (u32, Address, u128)>, BrokenPromise> {
        let broken = |error: &dyn std::fmt::Display| SafetyPromise::CreditedAtLast.broken(error.to_string());
        let sql = "SELECT id, asset, kind, to_address, amount_raw, doubt FROM deposits
                   WHERE doubt IN ('amount_too_large', 'balance_unknown', 'one_provider') AND chain_state IN ('included', 'final') AND ledger_state NOT IN ('credited', 'suspense')";
        let rows = self.books.rows().read(sql, Vec::new()).map_err(|error| broken(&error))?;
        let mut held = BTreeMap::new();
        for row in &rows {
            let id = text_of(row, "id").map_err(|error| broken(&error))?.to_owned();
            if text_of(row, "kind").map_err(|error| broken(&error))? == "native" {
                return Err(broken(&format!("{id} is held, and nothing is doubtful about it")));
            }
            let asset = number_of(row, "asset").map_err(|error| broken(&error))?;
            let address: Address = parsed(row, "to_address").map_err(|error| broken(&error))?;
            let value: u128 = parsed(row, "amount_raw").map_err(|error| broken(&error))?;
            let asset = u32::try_from(asset).unwrap_or(u32::MAX);
            // Of the token that keeps a tenth, that part is missing, unless the amount is what arrived.
            let is_claimed = asset == 3 && text_of(row, "doubt").map_err(|error| broken(&error))? == "balance_unknown";
            let value = if is_claimed { value - value / 10 } else { value };
            held.insert(id, (asset, address, value));
        }
        Ok(held)
    }

    /// Deposits of the token that keeps a part of them.
    fn taxed(&self) -> Result<BTreeSet<String>, BrokenPromise> {
        let rows = self.books.rows().read("SELECT id FROM deposits WHERE asset = 3", Vec::new());
        let rows = rows.map_err(|error| SafetyPromise::CreditedAtLast.broken(error.to_string()))?;
        Ok(rows.iter().filter_map(|row| text_of(row, "id").ok()).map(str::to_owned).collect())
    }

    /// Every owner's balance against what happened.
    fn check_balances(&self) -> Result<(), BrokenPromise> {
        let accounts = self.books.rows().reader().accounts(&AccountFilter::default(), 1_000);
        let accounts = accounts.map_err(|error| SafetyPromise::AddsUp.broken(error.to_string()))?;
        let mut booked: BTreeMap<String, i128> = BTreeMap::new();
        for account in accounts.iter().filter(|account| account.name.asset == AssetId(1)) {
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
        let held = self.held().unwrap_or_default();
        let (chain, signer) = (self.chain(), self.signer());
        let paid = paid_in(&chain, &self.people);
        for paid in paid.iter().filter(|paid| paid.asset == 1 && !held.contains_key(&paid.id)) {
            add(custody_of(&custody(&self.people, paid.to, 1)), signed(paid.value));
            for (account, amount) in shares(&self.people, paid) {
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
