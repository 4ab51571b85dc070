//! One token: balances, transfers, allowances, and the commands of a managed one.
//!
//! Guarantees: what it moves and what it logs are decided here and nowhere else; balances add up to the supply.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};

use super::{
    Call,
    abi::{address, selector, text, word, words},
    token_manner::TokenManner,
};
use crate::{
    machine::{Failure, Machine, TRANSFER},
    state::StateKey,
};

/// Gas of calls on top of their data, about as on real chains.
const VIEW_GAS: u64 = 2_500;
const MOVE_GAS: u64 = 30_000;

/// One, in the millionths that rebasing counts in.
const ONE: U256 = U256::from_limbs([1_000_000, 0, 0, 0]);

/// Where a token keeps what calls have set. Allowances and blocked addresses are at hashes.
const PAUSED: U256 = U256::ZERO;
const DECIMALS: U256 = U256::from_limbs([1, 0, 0, 0]);
const FACTOR: U256 = U256::from_limbs([2, 0, 0, 0]);
const MANNER: U256 = U256::from_limbs([3, 0, 0, 0]);
const MANNER_FROM: U256 = U256::from_limbs([4, 0, 0, 0]);

pub struct Token {
    pub address: Address,
    pub symbol: &'static str,
    pub decimals: u8,
    pub manner: TokenManner,
    pub abilities: TokenAbilities,
}

/// The first three tokens stay as they were, because stored chains contain calls that they refused.
#[derive(Clone, Copy)]
pub struct TokenAbilities {
    pub allowances: bool,
    pub managed: bool,
}

impl Token {
    pub fn run(&self, machine: &mut Machine<'_>, call: &Call) -> Result<Bytes, Failure> {
        // Coins sent to a token would be stuck, so every call refuses them.
        let Some((name, arguments)) = words(&call.input).filter(|_| call.value.is_zero()) else {
            return revert(machine, 200);
        };
        let named = |signature| name == selector(signature);
        match arguments[..] {
            [] if named("decimals()") => {
                let stored = self.word(machine, DECIMALS);
                view(machine, word(stored.checked_sub(U256::ONE).unwrap_or(U256::from(self.decimals))))
            }
            [] if named("symbol()") || named("name()") => view(machine, text(self.symbol)),
            [] if named("totalSupply()") => {
                let supply = self.shown(machine, self.shares(machine, Address::ZERO));
                view(machine, word(supply))
            }
            [holder] if named("balanceOf(address)") => match address(holder) {
                // The zero address holds the supply counter, so it cannot own tokens.
                Some(Address::ZERO) => view(machine, word(U256::ZERO)),
                Some(holder) => {
                    let held = self.shown(machine, self.shares(machine, holder));
                    view(machine, word(held))
                }
                None => revert(machine, VIEW_GAS),
            },
            [to, amount] if named("transfer(address,uint256)") => self.transfer(machine, call.from, to, amount),
            [to, amount] if named("mint(address,uint256)") => self.mint(machine, to, amount),
            [factor] if named("rebase(uint256)") && self.manner(machine) == TokenManner::Rebasing => {
                self.set_word(machine, FACTOR, factor)
            }
            _ if self.abilities.allowances => self.allowed(machine, call, name, &arguments),
            _ => revert(machine, 200),
        }
    }

    fn allowed(
        &self,
        machine: &mut Machine<'_>,
        call: &Call,
        name: &[u8],
        arguments: &[U256],
    ) -> Result<Bytes, Failure> {
        let named = |signature| name == selector(signature);
        match *arguments {
            [owner, spender] if named("allowance(address,address)") => {
                let allowed = self.word(machine, at_hash(owner, spender));
                view(machine, word(allowed))
            }
            [spender, amount] if named("approve(address,uint256)") => {
                let place = at_hash(call.from.into_word().into(), spender);
                self.set_word(machine, place, amount)
            }
            [from, to, amount] if named("transferFrom(address,address,uint256)") => {
                let place = at_hash(from, call.from.into_word().into());
                // A transfer of nothing needs no allowance: how strangers get into the history of an address.
                let left = self.word(machine, place).checked_sub(amount);
                let (Some(left), Some(from)) = (left, address(from)) else { return revert(machine, VIEW_GAS) };
                if !amount.is_zero() {
                    machine.set(StateKey::Word(self.address, place), left);
                }
                self.transfer(machine, from, to, amount)
            }
            _ if self.abilities.managed => self.managed(machine, name, arguments),
            _ => revert(machine, 200),
        }
    }

    /// Everyone manages it: this is a play chain.
    fn managed(&self, machine: &mut Machine<'_>, name: &[u8], arguments: &[U256]) -> Result<Bytes, Failure> {
        let named = |signature| name == selector(signature);
        match *arguments {
            [on] if named("pause(bool)") => self.set_word(machine, PAUSED, on),
            [who, on] if named("block(address,bool)") => self.set_word(machine, at_hash(who, who), on),
            [decimals] if named("setDecimals(uint256)") => {
                self.set_word(machine, DECIMALS, decimals.saturating_add(U256::ONE))
            }
            [manner, from] if named("setManner(uint256,uint256)") => {
                if TokenManner::of(manner.saturating_to()).is_none() {
                    return revert(machine, VIEW_GAS);
                }
                machine.set(StateKey::Word(self.address, MANNER_FROM), from);
                self.set_word(machine, MANNER, manner)
            }
            _ => revert(machine, 200),
        }
    }

    fn set_word(&self, machine: &mut Machine<'_>, place: U256, value: U256) -> Result<Bytes, Failure> {
        machine.burn(MOVE_GAS)?;
        machine.set(StateKey::Word(self.address, place), value);
        Ok(word(U256::ONE))
    }

    fn transfer(&self, machine: &mut Machine<'_>, from: Address, to: U256, amount: U256) -> Result<Bytes, Failure> {
        let manner = self.manner(machine);
        if manner == TokenManner::Declining {
            return view(machine, word(U256::ZERO));
        }
        let to = address(to).filter(|to| !to.is_zero() && !from.is_zero() && !self.is_stopped(machine, from, *to));
        let Some(to) = to else { return revert(machine, VIEW_GAS) };
        let taken = self.counted(machine, manner, amount);
        let given = match manner {
            TokenManner::Taxed => taken.saturating_sub(taken.checked_div(U256::from(10)).unwrap_or_default()),
            _ => taken,
        };
        let left = self.shares(machine, from).checked_sub(taken);
        match left {
            _ if manner == TokenManner::Boasting => machine.burn(MOVE_GAS)?,
            None => return revert(machine, VIEW_GAS),
            Some(left) => {
                machine.burn(MOVE_GAS)?;
                machine.set(self.key(from), left);
                // Balances add up to the supply, which fits; one that pays itself was lowered just before.
                let sum = self.shares(machine, to).saturating_add(given);
                machine.set(self.key(to), sum);
                let burnt = taken.saturating_sub(given);
                let supply = self.shares(machine, Address::ZERO).saturating_sub(burnt);
                machine.set(self.key(Address::ZERO), supply);
            }
        }
        self.log(machine, manner, from, to, amount);
        Ok(word(U256::ONE))
    }

    fn mint(&self, machine: &mut Machine<'_>, to: U256, amount: U256) -> Result<Bytes, Failure> {
        let manner = self.manner(machine);
        let made = self.counted(machine, manner, amount);
        let supply = self.shares(machine, Address::ZERO).checked_add(made);
        let (Some(supply), Some(to)) = (supply, address(to).filter(|to| !to.is_zero())) else {
            return revert(machine, VIEW_GAS);
        };
        machine.burn(MOVE_GAS)?;
        machine.set(self.key(Address::ZERO), supply);
        let sum = self.shares(machine, to).saturating_add(made);
        machine.set(self.key(to), sum);
        self.log(machine, manner, Address::ZERO, to, amount);
        Ok(word(U256::ONE))
    }

    fn log(&self, machine: &mut Machine<'_>, manner: TokenManner, from: Address, to: Address, amount: U256) {
        let (from, to) = (from.into_word(), to.into_word());
        let (topics, data) = match manner {
            TokenManner::Silent => return,
            TokenManner::Collectible => (vec![TRANSFER, from, to, B256::from(amount)], Bytes::new()),
            TokenManner::Unindexed => {
                (vec![TRANSFER], [from.as_slice(), to.as_slice(), &amount.to_be_bytes::<32>()].concat().into())
            }
            _ => (vec![TRANSFER, from, to], word(amount)),
        };
        machine.log(self.address, topics, data);
    }

    fn manner(&self, machine: &Machine<'_>) -> TokenManner {
        if !self.abilities.managed || U256::from(machine.number()) < self.word(machine, MANNER_FROM) {
            return self.manner;
        }
        TokenManner::of(self.word(machine, MANNER).saturating_to()).unwrap_or(self.manner)
    }

    fn is_stopped(&self, machine: &Machine<'_>, from: Address, to: Address) -> bool {
        let is_on = |place| self.abilities.managed && !self.word(machine, place).is_zero();
        let blocked = |who: Address| is_on(at_hash(who.into_word().into(), who.into_word().into()));
        is_on(PAUSED) || blocked(from) || blocked(to)
    }

    /// What an amount is in the unit of [`StateKey::Tokens`]: shares when rebasing, items of a collection.
    fn counted(&self, machine: &Machine<'_>, manner: TokenManner, amount: U256) -> U256 {
        match manner {
            TokenManner::Rebasing => {
                let factor = self.factor(machine);
                let (whole, rest) = (amount.checked_div(factor), amount.checked_rem(factor));
                let whole = whole.unwrap_or_default().saturating_mul(ONE);
                let part = rest.unwrap_or_default().saturating_mul(ONE).checked_div(factor);
                whole.saturating_add(part.unwrap_or_default())
            }
            TokenManner::Collectible => U256::ONE,
            _ => amount,
        }
    }

    fn shown(&self, machine: &Machine<'_>, shares: U256) -> U256 {
        if self.manner(machine) != TokenManner::Rebasing {
            return shares;
        }
        let factor = self.factor(machine);
        let (whole, rest) = (shares.checked_div(ONE), shares.checked_rem(ONE));
        let whole = whole.unwrap_or_default().saturating_mul(factor);
        let part = rest.unwrap_or_default().saturating_mul(factor).checked_div(ONE);
        whole.saturating_add(part.unwrap_or_default())
    }

    fn factor(&self, machine: &Machine<'_>) -> U256 {
        let stored = self.word(machine, FACTOR);
        if stored.is_zero() { ONE } else { stored }
    }

    fn word(&self, machine: &Machine<'_>, place: U256) -> U256 {
        machine.get(StateKey::Word(self.address, place))
    }

    fn shares(&self, machine: &Machine<'_>, holder: Address) -> U256 {
        machine.get(self.key(holder))
    }

    fn key(&self, holder: Address) -> StateKey {
        StateKey::Tokens(self.address, holder)
    }
}

fn at_hash(first: U256, second: U256) -> U256 {
    keccak256([first.to_be_bytes::<32>(), second.to_be_bytes::<32>()].concat()).into()
}

fn view(machine: &mut Machine<'_>, output: Bytes) -> Result<Bytes, Failure> {
    machine.burn(VIEW_GAS).map(|()| output)
}

fn revert(machine: &mut Machine<'_>, gas: u64) -> Result<Bytes, Failure> {
    machine.burn(gas)?;
    Err(Failure::Reverted)
}
