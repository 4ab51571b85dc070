//! Whether providers say the same: about the block at a height, about finality, and about words that no header covers.

use alloy_primitives::B256;

use super::{AnswerSource, Providers};
use crate::{
    block::{BlockHeader, BlockTag},
    error::RpcError,
};

/// What each provider answered to one question, for example for a balance at a block's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers<T> {
    /// Names and answers, in the order of the configuration.
    pub given: Vec<(String, T)>,
    /// Who was asked and gave an error.
    pub failed: Vec<(String, RpcError)>,
    /// Who was not asked, because it is ill.
    pub left_out: Vec<String>,
}

impl<T: PartialEq> Answers<T> {
    /// The answer that at least `required` providers gave, if no provider gave another.
    pub fn agreed(&self, required: usize) -> Option<&T> {
        if self.is_contradictory() || self.given.len() < required {
            return None;
        }
        self.given.first().map(|(_, answer)| answer)
    }

    /// Whether two providers gave different answers, so that one of them is wrong.
    pub fn is_contradictory(&self) -> bool {
        self.given.windows(2).any(|pair| matches!(pair, [(_, left), (_, right)] if left != right))
    }
}

/// What the providers say about the block at a height. Names, never URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Who has this block there.
    pub agree: Vec<String>,
    /// Who has another one there.
    pub contradict: Vec<(String, B256)>,
    /// Who did not answer, or is behind, or is ill and was not asked.
    pub silent: Vec<String>,
}

impl Agreement {
    /// Whether enough providers have the block, and no provider has another.
    pub fn is_reached(&self, required: usize) -> bool {
        self.contradict.is_empty() && self.agree.len() >= required
    }
}

/// The newest block that enough providers call final (or safe), and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalMark {
    pub header: BlockHeader,
    pub agreement: Agreement,
}

impl Providers {
    /// Asks every provider for its header at this height, the one that the block came from included.
    pub fn agreement(&self, now: u64, number: u64, hash: B256) -> Agreement {
        let answers = self.ask_all(now, AnswerSource::Node, |node| node.header(BlockTag::Number(number)));
        let mut agreement = Agreement { silent: answers.left_out, ..Agreement::default() };
        agreement.silent.extend(answers.failed.into_iter().map(|(name, _)| name));
        for (name, header) in answers.given {
            match header {
                Some(header) if header.hash == hash => agreement.agree.push(name),
                Some(header) => agreement.contradict.push((name, header.hash)),
                None => agreement.silent.push(name),
            }
        }
        agreement
    }

    /// The newest block that at least `required` providers call final, by [`BlockTag::Finalized`] or
    /// [`BlockTag::Safe`]: the lowest of their marks. `None` if fewer have a mark.
    ///
    /// Use it only if its agreement is reached: marks are numbers, and two providers on different forks may both have
    /// one. A single provider that claims any height moves the mark of two no higher than an honest one has it.
    pub fn finalized(&self, now: u64, tag: BlockTag, required: usize) -> Option<FinalMark> {
        let answers = self.ask_all(now, AnswerSource::Node, |node| node.header(tag));
        let mut marks: Vec<BlockHeader> = answers.given.into_iter().filter_map(|(_, header)| header).collect();
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.number));
        let header = marks.get(required.max(1).saturating_sub(1)).copied()?;
        let agreement = self.agreement(now, header.number, header.hash);
        Some(FinalMark { header, agreement })
    }
}
