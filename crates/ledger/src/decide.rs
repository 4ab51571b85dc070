//! The decision: the one place where money may move.
//!
//! Pure: no clock, no IO, no randomness. The rules about the request as a whole are checked first, each over all legs
//! before the next, in the order of [`Rejection`]. Then the legs are executed one by one on a copy of the touched
//! balances, and the first leg that fails rejects the request. Nothing is changed here: the caller applies the
//! effects, which carry every touched balance as it is afterwards.
//!
//! It does not know whether the key was used before (see [`recall`]), nor whether the books in memory are current. The
//! store is responsible for both.

use smallvec::SmallVec;

use crate::{
    Account, AccountId, AccountKind, Action, Amount, Books, Effects, GuardFailure, Hold, HoldChange, HoldId, HoldState,
    Leg, Posting, Principal, Rejection, Request, Role, Scope, Seq, Settler, Side, Time, Verdict,
};

/// Decides one request, as the record at position `seq` of the journal.
#[must_use]
pub fn decide(books: &Books, request: &Request, seq: Seq, now: Time) -> Verdict {
    match request.check() {
        Ok(()) => decide_checked(books, request, seq, now),
        Err(rejection) => Verdict::Rejected(rejection),
    }
}

/// As [`decide`], for a request that has passed [`Request::check`].
#[must_use]
pub fn decide_checked(books: &Books, request: &Request, seq: Seq, now: Time) -> Verdict {
    match try_decide(books, request, seq, now) {
        Ok(effects) => Verdict::Applied(effects),
        Err(rejection) => Verdict::Rejected(rejection),
    }
}

/// The relation of a request to an earlier one with the same fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// A different key; the fingerprints collide.
    Unrelated,
    /// The same request: it gets the same answer.
    Replay,
    /// The same key with another body.
    KeyReused,
}

/// Compares a request with an earlier one that has the same fingerprint.
#[must_use]
pub fn recall(earlier: &Request, request: &Request) -> Recall {
    if earlier.key != request.key {
        Recall::Unrelated
    } else if earlier.body_hash() == request.body_hash() {
        Recall::Replay
    } else {
        Recall::KeyReused
    }
}

fn try_decide(books: &Books, request: &Request, seq: Seq, now: Time) -> Result<Effects, Rejection> {
    check_guards(books, request, GuardFailure::Paused, Rejection::ServerPaused)?;
    let role = request.principal.role();
    let mut work = Work { books, role, touched: SmallVec::new(), holds: Vec::new(), effects: Effects::default() };
    match &request.action {
        Action::Legs(legs) => {
            let legs = resolve(books, legs)?;
            check_access(&request.principal, &legs)?;
            if legs.iter().any(|leg| matches!(leg, ResolvedLeg::Post { from, to, .. } if from.id == to.id)) {
                return Err(Rejection::AccountsMustDiffer);
            }
            check_assets(&legs)?;
            check_expiry(&legs, now)?;
            check_guards(books, request, GuardFailure::Conflict, Rejection::GuardFailed)?;
            for (leg, index) in legs.iter().zip(0_u8..) {
                work.execute(leg, HoldId::of(seq, index))?;
            }
        }
        Action::Reverse(original) => {
            let postings = reversible(books, request, *original)?;
            check_guards(books, request, GuardFailure::Conflict, Rejection::GuardFailed)?;
            work.effects.reverses = Some(*original);
            for posting in postings.iter().rev() {
                work.reverse_posting(posting)?;
            }
        }
    }
    Ok(work.effects)
}

/// A leg with the accounts and the hold that it names.
enum ResolvedLeg<'a> {
    Move { from: &'a Account, to: &'a Account, amount: Amount },
    Hold { account: &'a Account, amount: Amount, expires: Option<Time>, settler: Settler },
    Post { hold: &'a Hold, from: &'a Account, to: &'a Account, amount: Amount },
    Release { hold: &'a Hold, account: &'a Account },
}

/// Nearly every request has one or two legs and touches two accounts: these need no allocation.
type ResolvedLegs<'a> = SmallVec<[ResolvedLeg<'a>; 2]>;

fn resolve<'a>(books: &'a Books, legs: &[Leg]) -> Result<ResolvedLegs<'a>, Rejection> {
    let account = |id: AccountId| books.account(id).ok_or(Rejection::AccountNotFound);
    for leg in legs {
        match *leg {
            Leg::Move { from, to, .. } => account(from).and(account(to))?,
            Leg::Hold { account: id, .. } | Leg::Post { to: id, .. } => account(id)?,
            Leg::Release { .. } => continue,
        };
    }
    let hold = |id: HoldId| books.hold(id).ok_or(Rejection::HoldNotFound);
    let resolve_one = |leg: &Leg| match *leg {
        Leg::Move { from, to, amount } => Ok(ResolvedLeg::Move { from: account(from)?, to: account(to)?, amount }),
        Leg::Hold { account: id, amount, expires, settler } => {
            Ok(ResolvedLeg::Hold { account: account(id)?, amount, expires, settler })
        }
        Leg::Post { hold: id, to, amount } => {
            let hold = hold(id)?;
            Ok(ResolvedLeg::Post { hold, from: account(hold.account)?, to: account(to)?, amount })
        }
        Leg::Release { hold: id } => {
            hold(id).and_then(|hold| Ok(ResolvedLeg::Release { hold, account: account(hold.account)? }))
        }
    };
    legs.iter().map(resolve_one).collect()
}

fn check_access(principal: &Principal, legs: &[ResolvedLeg<'_>]) -> Result<(), Rejection> {
    let role = principal.role();
    // Money never crosses from one server's books to another's.
    let one_server = |a: &Account, b: &Account| {
        a.name.scope == b.name.scope || a.name.scope == Scope::House || b.name.scope == Scope::House
    };
    // Nor from one player directly to another, unless two operators override it.
    let one_player = |a: &Account, b: &Account| {
        let players = a.name.kind.is_players() && b.name.kind.is_players();
        !players || a.name.owner == b.name.owner || role == Role::Admin
    };
    let may_route = |from: &Account, to: &Account| {
        role.may_route(from.name.kind, to.name.kind)
            && to.policy.deposit.has(role)
            && principal.reaches(&to.name)
            && one_server(from, to)
            && one_player(from, to)
    };
    let may_withdraw = |account: &Account| {
        role.may_hold(account.name.kind) && account.policy.withdraw.has(role) && principal.reaches(&account.name)
    };
    let may_settle =
        |hold: &Hold, account: &Account| may_withdraw(account) && (hold.settler == role || role == Role::System);
    let allowed = legs.iter().all(|leg| match *leg {
        ResolvedLeg::Move { from, to, .. } => {
            from.policy.transfer.has(role) && principal.reaches(&from.name) && may_route(from, to)
        }
        ResolvedLeg::Hold { account, .. } => may_withdraw(account),
        ResolvedLeg::Post { hold, from, to, .. } => may_settle(hold, from) && may_route(from, to),
        ResolvedLeg::Release { hold, account } => may_settle(hold, account),
    });
    if allowed { Ok(()) } else { Err(Rejection::NotAllowed) }
}

fn check_assets(legs: &[ResolvedLeg<'_>]) -> Result<(), Rejection> {
    let matching = legs.iter().all(|leg| match leg {
        ResolvedLeg::Move { from, to, .. } | ResolvedLeg::Post { from, to, .. } => from.name.asset == to.name.asset,
        ResolvedLeg::Hold { .. } | ResolvedLeg::Release { .. } => true,
    });
    if matching { Ok(()) } else { Err(Rejection::AssetMismatch) }
}

fn check_expiry(legs: &[ResolvedLeg<'_>], now: Time) -> Result<(), Rejection> {
    let over = |hold: &Hold| hold.state == HoldState::Expired || (hold.state == HoldState::Open && hold.is_due(now));
    let expired = legs.iter().any(|leg| match leg {
        ResolvedLeg::Post { hold, .. } | ResolvedLeg::Release { hold, .. } => over(hold),
        ResolvedLeg::Hold { expires, .. } => expires.is_some_and(|expires| expires <= now),
        ResolvedLeg::Move { .. } => false,
    });
    if expired { Err(Rejection::HoldExpired) } else { Ok(()) }
}

fn check_guards(books: &Books, request: &Request, meaning: GuardFailure, broken: Rejection) -> Result<(), Rejection> {
    let mut guarded = request.facts.iter().filter(|fact| fact.otherwise == meaning);
    if guarded.all(|fact| fact.guard.holds(books.row(&fact.row))) { Ok(()) } else { Err(broken) }
}

/// The postings to reverse, if this principal may reverse them.
fn reversible<'a>(books: &'a Books, request: &Request, original: Seq) -> Result<&'a [Posting], Rejection> {
    let past = books.past(original).ok_or(Rejection::TransferNotFound)?;
    if past.postings.is_empty() || past.is_reversal {
        return Err(Rejection::NotReversible);
    }
    if past.reversed_by.is_some() {
        return Err(Rejection::AlreadyReversed);
    }
    match request.principal.role() {
        Role::System | Role::Admin => Ok(&past.postings),
        // The deposits flow reverses its own credits only.
        Role::Indexer if past.by == Role::Indexer => Ok(&past.postings),
        _ => Err(Rejection::NotAllowed),
    }
}

/// The working copy of the touched accounts and holds.
struct Work<'a> {
    books: &'a Books,
    role: Role,
    touched: SmallVec<[TouchedAccount<'a>; 3]>,
    holds: Vec<Hold>,
    effects: Effects,
}

struct TouchedAccount<'a> {
    account: &'a Account,
    balance: Amount,
    held: Amount,
}

impl TouchedAccount<'_> {
    fn available(&self) -> Amount {
        self.balance.checked_sub(self.held).unwrap_or(Amount::ZERO)
    }
}

impl<'a> Work<'a> {
    fn execute(&mut self, leg: &ResolvedLeg<'a>, new_hold: HoldId) -> Result<(), Rejection> {
        match *leg {
            ResolvedLeg::Move { from, to, amount } => self.credit(from, to, amount),
            ResolvedLeg::Hold { account, amount, expires, settler } => {
                let touched = self.touch(account);
                if touched.available() < amount {
                    return Err(Rejection::InsufficientFunds);
                }
                touched.held = touched.held.checked_add(amount).ok_or(Rejection::BalanceOverflow)?;
                // A time beyond what a store can keep means never.
                let expires = expires.filter(|expires| expires.0 <= i64::MAX.cast_unsigned());
                let settler = match settler {
                    Settler::Holder => self.role,
                    Settler::System => Role::System,
                };
                let state = HoldState::Open;
                self.record_hold(Hold {
                    id: new_hold,
                    account: account.id,
                    remaining: amount,
                    expires,
                    settler,
                    state,
                });
                Ok(())
            }
            ResolvedLeg::Post { hold, from, to, amount } => {
                let hold = self.open_hold(hold)?;
                let remaining = hold.remaining.checked_sub(amount).ok_or(Rejection::HoldExceeded)?;
                self.free(from, amount);
                self.credit(from, to, amount)?;
                let state = if remaining.is_zero() { HoldState::Settled } else { HoldState::Open };
                self.record_hold(Hold { remaining, state, ..hold });
                Ok(())
            }
            ResolvedLeg::Release { hold, account } => {
                let hold = self.open_hold(hold)?;
                self.free(account, hold.remaining);
                self.record_hold(Hold { remaining: Amount::ZERO, state: HoldState::Settled, ..hold });
                Ok(())
            }
        }
    }

    /// Moves an amount to an account; first it repays what the owner owes.
    fn credit(&mut self, from: &'a Account, to: &'a Account, amount: Amount) -> Result<(), Rejection> {
        let repays = to.name.kind.repays_debt(from.name.kind);
        let debt = to.debt.filter(|_| repays).and_then(|id| self.books.account(id));
        let (Some(debt), true) = (debt, debt.is_some_and(|debt| debt.id != from.id)) else {
            return self.post(from, to, amount);
        };
        let repaid = self.touch(debt).balance.min(amount);
        self.post(from, debt, repaid)?;
        self.post(from, to, amount.checked_sub(repaid).unwrap_or(Amount::ZERO))
    }

    /// Reverses a posting: the receiving account returns what it has available, the rest becomes its owner's debt.
    fn reverse_posting(&mut self, posting: &Posting) -> Result<(), Rejection> {
        let account = |id: AccountId| self.books.account(id).ok_or(Rejection::AccountNotFound);
        let (giver, taker) = (account(posting.to)?, account(posting.from)?);
        let returned = match giver.name.kind.side() {
            Side::Credit => self.touch(giver).available().min(posting.amount),
            Side::Debit => posting.amount,
        };
        self.credit(giver, taker, returned)?;
        let owed = posting.amount.checked_sub(returned).unwrap_or(Amount::ZERO);
        // Early credit that was spent is the house's loss, not the player's debt.
        if owed.is_zero() || (giver.name.kind == AccountKind::PlayOnly && taker.name.kind == AccountKind::House) {
            return Ok(());
        }
        // Between two accounts of one owner there is no debt: it would create money.
        let debt = giver.debt.filter(|debt| taker.debt != Some(*debt));
        let debt = debt.and_then(|id| self.books.account(id)).ok_or(Rejection::DebtAccountNotFound)?;
        self.credit(debt, taker, owed)
    }

    /// One posting: the only lines that change balances. An amount of zero makes no posting.
    fn post(&mut self, from: &'a Account, to: &'a Account, amount: Amount) -> Result<(), Rejection> {
        if amount.is_zero() {
            return Ok(());
        }
        let giver = self.touch(from);
        giver.balance = match from.name.kind.side() {
            Side::Credit if giver.available() < amount => return Err(Rejection::InsufficientFunds),
            Side::Credit => giver.balance.checked_sub(amount).ok_or(Rejection::InsufficientFunds)?,
            Side::Debit => giver.balance.checked_add(amount).ok_or(Rejection::BalanceOverflow)?,
        };
        let from_after = giver.balance;
        let taker = self.touch(to);
        taker.balance = match to.name.kind.side() {
            Side::Credit => taker.balance.checked_add(amount).ok_or(Rejection::BalanceOverflow)?,
            // A wallet cannot pay more than it holds, and a debt cannot be repaid twice.
            Side::Debit => taker.balance.checked_sub(amount).ok_or(Rejection::CustodyShort)?,
        };
        let to_after = taker.balance;
        self.effects.postings.push(Posting { from: from.id, to: to.id, amount, from_after, to_after });
        Ok(())
    }

    fn touch(&mut self, account: &'a Account) -> &mut TouchedAccount<'a> {
        let index = self.touched.iter().position(|touched| touched.account.id == account.id);
        let index = index.unwrap_or(self.touched.len());
        if index == self.touched.len() {
            self.touched.push(TouchedAccount { account, balance: account.balance, held: account.held });
        }
        self.touched.get_mut(index).expect("found or just pushed")
    }

    /// The hold after the legs before this one.
    fn open_hold(&self, hold: &Hold) -> Result<Hold, Rejection> {
        let current = self.holds.iter().rev().find(|changed| changed.id == hold.id).unwrap_or(hold);
        if current.state == HoldState::Open { Ok(*current) } else { Err(Rejection::HoldSettled) }
    }

    fn free(&mut self, account: &'a Account, amount: Amount) {
        let touched = self.touch(account);
        touched.held = touched.held.checked_sub(amount).expect("an account holds at least what each hold has left");
    }

    fn record_hold(&mut self, hold: Hold) {
        let held_after = self.touched.iter().find(|touched| touched.account.id == hold.account);
        let held_after = held_after.expect("a changed hold has touched its account").held;
        self.holds.push(hold);
        self.effects.holds.push(HoldChange { hold, held_after });
    }
}
