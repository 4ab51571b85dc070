//! Asking for balances. No header vouches for them, and a node that lies about what contracts moved can lie about them
//! too: so the other providers are asked as well.
//!
//! | what providers say | then |
//! | --- | --- |
//! | enough say the same, and more than say otherwise | that counts |
//! | they contradict each other, or too few can say | held |
//! | another one does not have the block yet | the step waits for it |
//!
//! The value does not matter: what was lied about in a block that stays on the chain would never be taken back. A chain
//! with fewer providers than must agree has one provider's word; its large deposits are held anyhow.
//!
//! That a token's balance differs counts against no provider: its contract may answer each of them differently. A
//! balance of coins is the node's own word.

use bankroll_chains_evm::{BlockTag, Providers, RpcError, RpcNode, U256};
use bankroll_ledger::Time;

use crate::{
    BalanceQuestion, ProviderAgreement, agreement::milliseconds, balance_check::BalanceAnswer, error::ScanError,
    follower::BlockPoint, scanner::ChainSource,
};

/// Who is asked, and in which block.
pub(crate) struct BalanceReader<'a> {
    pub source: ChainSource<'a>,
    pub agreement: Option<&'a ProviderAgreement>,
    pub block: BlockPoint,
    pub now: Time,
}

impl BalanceReader<'_> {
    /// The balance before and after the block, as far as it is believed.
    pub fn ask(&self, question: &BalanceQuestion) -> Result<BalanceAnswer, ScanError> {
        let own = balances(self.source.node, question)?;
        let rule = self.agreement.filter(|rule| rule.can_be_reached());
        let (Some(rule), Some(providers)) = (rule, self.source.providers) else { return Ok(own) };
        let mut answers = BalanceVotes::default();
        if let Some(own) = own {
            answers.count(own, providers.iter().find(|one| std::ptr::eq(&one.node, self.source.node)).map(name_of));
        }
        let now = milliseconds(self.now);
        let health = providers.health();
        for (provider, (_, health)) in providers.iter().zip(&health) {
            if std::ptr::eq(&provider.node, self.source.node) || health.is_distrusted(now) {
                continue;
            }
            match balances(&provider.node, question) {
                Ok(Some(answer)) => answers.count(answer, Some(name_of(provider))),
                Ok(None) if !health.is_behind => self.wait_for(&provider.node)?,
                Ok(None) | Err(_) => {}
            }
        }
        Ok(answers.believed(rule.required, |liar| {
            if question.token.is_none() {
                Providers::note_lie(providers, liar, now);
            }
        }))
    }

    /// A provider that has not seen the block yet will soon: until then the block is in doubt.
    fn wait_for(&self, node: &RpcNode) -> Result<(), ScanError> {
        let ours = self.block.number;
        match node.header(BlockTag::Hash(self.block.hash)) {
            Ok(None) => Err(ScanError::Lagging { theirs: ours.saturating_sub(1), ours }),
            Ok(Some(_)) | Err(_) => Ok(()),
        }
    }
}

fn name_of(provider: &bankroll_chains_evm::Provider) -> &str {
    &provider.name
}

/// A node that refuses, or a contract that reverts, has not said anything: that is no failure of the step, which would
/// let one token stop the scanner.
fn balances(node: &RpcNode, question: &BalanceQuestion) -> Result<BalanceAnswer, ScanError> {
    let at = |block| match question.token {
        Some(token) => node.token_balance(token, question.address, BlockTag::Hash(block)),
        None => node.balance(question.address, BlockTag::Hash(block)),
    };
    match at(question.before).and_then(|before| Ok((before, at(question.after)?))) {
        Ok((before, after)) => Ok(Some((before.units(), after.units()))),
        Err(RpcError::Refused(_) | RpcError::Malformed(_)) => Ok(None),
        Err(error) => Err(ScanError::Balance(error)),
    }
}

/// Each answer, and who gave it.
#[derive(Default)]
struct BalanceVotes<'a>(Vec<((U256, U256), Vec<&'a str>)>);

impl<'a> BalanceVotes<'a> {
    fn count(&mut self, answer: (U256, U256), by: Option<&'a str>) {
        let by = by.unwrap_or_default();
        match self.0.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, voters)) => voters.push(by),
            None => self.0.push((answer, vec![by])),
        }
    }

    /// The answer of enough providers, and of more than all others together. Providers that are outvoted are handed over.
    fn believed(mut self, required: usize, outvoted: impl Fn(&str)) -> BalanceAnswer {
        self.0.sort_by_key(|(_, voters)| std::cmp::Reverse(voters.len()));
        let others: Vec<&str> = self.0.iter().skip(1).flat_map(|(_, voters)| voters.iter().copied()).collect();
        let (answer, voters) = self.0.first()?;
        if voters.len() < required || voters.len() <= others.len() {
            return None;
        }
        others.into_iter().for_each(outvoted);
        Some(*answer)
    }
}
