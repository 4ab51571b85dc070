//! Balances and holds, and the effects of legs and reversals on them.

use std::collections::BTreeMap;

use bankroll_ledger::{Leg, Settler};

use super::{Model, ModelEffect, ModelHoldChange, ModelPosting, RejectionCode, rights};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelBalance {
    pub balance: u128,
    pub held: u128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelHold {
    pub account: u64,
    pub remaining: u128,
    pub expires: Option<u64>,
    /// The role that may settle it; the system always may.
    pub settler: &'static str,
    pub state: &'static str,
}

/// Every balance and every open hold. Copied for each request, so that a rejected one has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelMoney {
    pub balances: BTreeMap<u64, ModelBalance>,
    pub holds: BTreeMap<u64, ModelHold>,
}

impl ModelMoney {
    /// Executes the legs one by one, as the request at the model's next position.
    pub(super) fn execute(
        &mut self,
        model: &Model,
        role: &'static str,
        legs: &[Leg],
    ) -> Result<ModelEffect, RejectionCode> {
        let mut effect = ModelEffect::default();
        for (place, leg) in legs.iter().enumerate() {
            match leg {
                Leg::Move { from, to, amount } => self.credit(model, from.0, to.0, amount.units(), &mut effect)?,
                Leg::Hold { account, amount, expires, settler } => {
                    let balance = self.at(account.0);
                    if balance.balance - balance.held < amount.units() {
                        return Err("insufficient_funds");
                    }
                    balance.held += amount.units();
                    let id = (model.seq + 1) * 16 + place as u64;
                    let hold = ModelHold {
                        account: account.0,
                        remaining: amount.units(),
                        // A time after the year 294,247 means never.
                        expires: expires.map(|expires| expires.0).filter(|expires| *expires < 1 << 63),
                        settler: if *settler == Settler::System { "system" } else { role },
                        state: "open",
                    };
                    self.holds.insert(id, hold);
                    self.record_hold(id, &mut effect);
                }
                Leg::Post { hold, to, amount } => {
                    let (id, amount) = (hold.0, amount.units());
                    let hold = self.open_hold(id)?;
                    if hold.remaining < amount {
                        return Err("hold_exceeded");
                    }
                    hold.remaining -= amount;
                    if hold.remaining == 0 {
                        hold.state = "settled";
                    }
                    let from = hold.account;
                    self.at(from).held -= amount;
                    self.credit(model, from, to.0, amount, &mut effect)?;
                    self.record_hold(id, &mut effect);
                }
                Leg::Release { hold } => {
                    let id = hold.0;
                    let hold = self.open_hold(id)?;
                    hold.state = "settled";
                    let (account, freed) = (hold.account, std::mem::take(&mut hold.remaining));
                    self.at(account).held -= freed;
                    self.record_hold(id, &mut effect);
                }
            }
        }
        Ok(effect)
    }

    /// Reverses postings, last first. What the receiver no longer has becomes its owner's debt.
    pub(super) fn reverse(
        &mut self,
        model: &Model,
        original: u64,
        moved: &[ModelPosting],
    ) -> Result<ModelEffect, RejectionCode> {
        let mut effect = ModelEffect { reverses: Some(original), ..ModelEffect::default() };
        for ModelPosting { from, to, amount, .. } in moved.iter().rev() {
            let balance = *self.at(*to);
            let has = if is_debit(model, *to) { *amount } else { balance.balance - balance.held };
            let returned = has.min(*amount);
            self.credit(model, *to, *from, returned, &mut effect)?;
            // Early credit that was spent is the house's loss.
            let early = model.accounts[to].kind == "play_only" && model.accounts[from].kind == "house";
            if returned < *amount && !early {
                // Between two accounts of one owner there is no debt.
                let debt = model.debt_of(*to).filter(|debt| model.debt_of(*from) != Some(*debt));
                let debt = debt.ok_or("debt_account_not_found")?;
                self.credit(model, debt, *from, amount - returned, &mut effect)?;
            }
        }
        Ok(effect)
    }

    pub(super) fn expire(&mut self, id: u64) {
        let Some(hold) = self.holds.get_mut(&id) else { return };
        hold.state = "expired";
        let (account, freed) = (hold.account, std::mem::take(&mut hold.remaining));
        self.at(account).held -= freed;
    }

    /// Moves an amount to an account; first it repays what the owner owes.
    fn credit(
        &mut self,
        model: &Model,
        from: u64,
        to: u64,
        amount: u128,
        effect: &mut ModelEffect,
    ) -> Result<(), RejectionCode> {
        let repaying = rights::repays(&model.accounts[&to].kind, &model.accounts[&from].kind);
        let debt = model.debt_of(to).filter(|debt| repaying && *debt != from);
        let repaid = debt.map_or(0, |debt| self.at(debt).balance.min(amount));
        if let Some(debt) = debt {
            self.shift(model, from, debt, repaid, effect)?;
        }
        self.shift(model, from, to, amount - repaid, effect)
    }

    /// One posting. Debit-side accounts count the other way round: money that leaves them adds to them.
    fn shift(
        &mut self,
        model: &Model,
        from: u64,
        to: u64,
        amount: u128,
        effect: &mut ModelEffect,
    ) -> Result<(), RejectionCode> {
        if amount == 0 {
            return Ok(());
        }
        let giver = self.at(from);
        if is_debit(model, from) {
            giver.balance = giver.balance.checked_add(amount).ok_or("balance_overflow")?;
        } else if giver.balance - giver.held < amount {
            return Err("insufficient_funds");
        } else {
            giver.balance -= amount;
        }
        let from_after = giver.balance;
        let taker = self.at(to);
        taker.balance = if is_debit(model, to) {
            taker.balance.checked_sub(amount).ok_or("custody_short")?
        } else {
            taker.balance.checked_add(amount).ok_or("balance_overflow")?
        };
        let to_after = taker.balance;
        effect.moved.push(ModelPosting { from, to, amount, from_after, to_after });
        Ok(())
    }

    fn open_hold(&mut self, id: u64) -> Result<&mut ModelHold, RejectionCode> {
        self.holds.get_mut(&id).filter(|hold| hold.state == "open").ok_or("hold_settled")
    }

    fn record_hold(&mut self, id: u64, effect: &mut ModelEffect) {
        let hold = self.holds[&id].clone();
        effect.holds.push(ModelHoldChange {
            id,
            account: hold.account,
            remaining: hold.remaining,
            expires: hold.expires,
            settler: hold.settler.to_owned(),
            state: hold.state.to_owned(),
            held_after: self.at(hold.account).held,
        });
    }

    fn at(&mut self, id: u64) -> &mut ModelBalance {
        self.balances.entry(id).or_default()
    }
}

fn is_debit(model: &Model, id: u64) -> bool {
    rights::is_debit(&model.accounts[&id].kind)
}
