//! Several providers of one chain: which of them to use now, and whether they agree.
//!
//! A header proves what is in a block, and nothing proves that the block is on the chain: that is one provider's word,
//! as are finality, balances and traces. So what matters is asked of several.
//!
//! Guarantees: providers are named, and their URLs appear nowhere; nothing counts against a provider that a player
//! could cause (see [`HealthRules`]); if all are ill the best one is still asked, so that a chain comes back by
//! itself.
//!
//! It deliberately does not know: how many must agree, above which value, what to do when they do not, and the time.
//! Times are milliseconds of any clock of the caller's.

mod agreement;
mod health;

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    block::{BlockHeader, BlockTag},
    error::{RpcError, Unavailable},
    identity::ChainIdentity,
    node::RpcNode,
};
pub use agreement::{Agreement, Answers, FinalMark};
use health::Health;
pub use health::{HealthRules, ProviderFault, ProviderHealth};

/// A node with the name that the configuration gives it.
#[derive(Debug)]
pub struct Provider {
    pub name: String,
    pub node: RpcNode,
}

/// All providers of a chain, the preferred one first.
pub struct Providers {
    list: Vec<Provider>,
    health: Mutex<Health>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProviders {
    #[error("a chain needs at least one provider")]
    None,
    #[error("two providers have the name {0:?}")]
    SameName(String),
    #[error("provider {0:?} is of another chain than the first one")]
    OtherChain(String),
}

/// Whose words an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerSource {
    /// The node's. A failure counts against it.
    Node,
    /// A contract's, as in a call, an estimate, a token's balance or a trace: how large the answer is, how long it
    /// takes and whether it comes at all is up to the author of the contract. Only a lie counts against the node.
    Contract,
}

impl Providers {
    pub fn new(list: Vec<Provider>, rules: HealthRules) -> Result<Self, InvalidProviders> {
        let identity = list.first().ok_or(InvalidProviders::None)?.node.identity();
        for (number, provider) in list.iter().enumerate() {
            let name = || provider.name.clone();
            if list.iter().take(number).any(|other| other.name == provider.name) {
                return Err(InvalidProviders::SameName(name()));
            }
            if provider.node.identity() != identity {
                return Err(InvalidProviders::OtherChain(name()));
            }
        }
        let health = Mutex::new(Health::new(rules, list.len()));
        Ok(Self { list, health })
    }

    pub fn identity(&self) -> ChainIdentity {
        self.list.first().map(|provider| provider.node.identity()).expect("bug: there is at least one")
    }

    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Each provider's name and health.
    pub fn health(&self) -> Vec<(&str, ProviderHealth)> {
        let health = self.locked();
        self.list.iter().enumerate().map(|(number, provider)| (provider.name.as_str(), health.of(number))).collect()
    }

    /// The provider to use now.
    pub fn best(&self, now: u64) -> &Provider {
        let number = self.locked().order(now).first().copied().unwrap_or_default();
        self.list.get(number).or(self.list.first()).expect("bug: there is at least one")
    }

    /// Asks the best provider, and after a failure the next one; says whose answer it is. A refusal is an answer,
    /// except that of a method that the provider does not have.
    pub fn ask<T>(
        &self,
        now: u64,
        source: AnswerSource,
        ask: impl Fn(&RpcNode) -> Result<T, RpcError>,
    ) -> Result<(T, &Provider), RpcError> {
        let order = self.locked().order(now);
        let mut last = Unavailable::Unreachable.into();
        for (number, provider) in order.into_iter().filter_map(|number| Some((number, self.list.get(number)?))) {
            let answer = ask(&provider.node);
            self.note(number, now, source, answer.as_ref().err());
            match answer {
                Ok(answer) => return Ok((answer, provider)),
                Err(error @ RpcError::Refused(_)) if !error.is_no_method() => return Err(error),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Asks every provider that is well, at the same time; if none is, the best one.
    pub fn ask_all<T: Send>(
        &self,
        now: u64,
        source: AnswerSource,
        ask: impl Fn(&RpcNode) -> Result<T, RpcError> + Sync,
    ) -> Answers<T> {
        let order = self.locked().order(now);
        let mut numbered: Vec<(usize, Result<T, RpcError>)> = std::thread::scope(|scope| {
            let ask = &ask;
            let asked = order.iter().filter_map(|number| Some((*number, self.list.get(*number)?)));
            let asked: Vec<_> =
                asked.map(|(number, provider)| (number, scope.spawn(move || ask(&provider.node)))).collect();
            asked.into_iter().map(|(number, asked)| (number, asked.join().expect("bug: a question panicked"))).collect()
        });
        numbered.sort_by_key(|(number, _)| *number);
        let mut answers = Answers { given: Vec::new(), failed: Vec::new(), left_out: Vec::new() };
        let mut numbered = numbered.into_iter().peekable();
        for (number, provider) in self.list.iter().enumerate() {
            let name = provider.name.clone();
            match numbered.next_if(|(asked, _)| *asked == number) {
                None => answers.left_out.push(name),
                Some((_, answer)) => {
                    self.note(number, now, source, answer.as_ref().err());
                    match answer {
                        Ok(answer) => answers.given.push((name, answer)),
                        Err(error) => answers.failed.push((name, error)),
                    }
                }
            }
        }
        answers
    }

    /// Reads all heads, and notes who is behind the others.
    pub fn compare_heads(&self, now: u64) -> Answers<Option<BlockHeader>> {
        let answers = self.ask_all(now, AnswerSource::Node, |node| node.header(BlockTag::Latest));
        let number = |name: &str| self.list.iter().position(|provider| provider.name == name);
        // A node always has some block: none at all is as good as the first one.
        let height = |header: &Option<BlockHeader>| header.map_or(0, |header| header.number);
        let heads = answers.given.iter().filter_map(|(name, header)| Some((number(name)?, height(header))));
        let heads: Vec<(usize, u64)> = heads.collect();
        self.locked().compare(&heads);
        answers
    }

    /// Notes what a caller saw of a provider that it used by itself, by its name.
    pub fn note_result<T>(&self, name: &str, now: u64, source: AnswerSource, result: &Result<T, RpcError>) {
        if let Some(number) = self.list.iter().position(|provider| provider.name == name) {
            self.note(number, now, source, result.as_ref().err());
        }
    }

    /// Notes that a provider lied, by what the caller knows: another block at a height that is final, a balance that
    /// does not fit, a trace that moved nothing.
    pub fn note_lie(&self, name: &str, now: u64) {
        if let Some(number) = self.list.iter().position(|provider| provider.name == name) {
            self.locked().failed(number, ProviderFault::Lying, now);
        }
    }

    fn note(&self, provider: usize, now: u64, source: AnswerSource, error: Option<&RpcError>) {
        let fault = error.and_then(ProviderFault::of);
        match (source, fault) {
            // Another chain's id is no contract's doing.
            (AnswerSource::Contract, Some(ProviderFault::Unavailable | ProviderFault::Malformed)) => {}
            (_, Some(fault)) => self.locked().failed(provider, fault, now),
            // A refusal is an answer: the provider is there.
            (_, None) => self.locked().succeeded(provider),
        }
    }

    /// Every change under the lock is whole.
    fn locked(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.list).finish()
    }
}
