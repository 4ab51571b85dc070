//! Which provider the scanner uses: what each step says about the one that it used.
//!
//! A provider that stands still gives no error: it says that there is no new block, for ever. So heads are compared
//! while nothing happens, too.

use bankroll_chains_evm::{AnswerSource, Providers, Unavailable};

use crate::{ScanOutcome, error::ScanError};

/// How often heads are compared while there is no new block, in milliseconds.
const COMPARE_EVERY: u64 = 10_000;

/// What is remembered from step to step.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProviderChoice {
    compared_at: Option<u64>,
}

impl ProviderChoice {
    /// Notes how a step with this provider ended, at this time in milliseconds. The next step asks for the best one.
    pub fn note(&mut self, providers: &Providers, used: &str, now: u64, scanned: &Result<ScanOutcome, ScanError>) {
        let failed = |source, error: &_| providers.note_result::<()>(used, now, source, &Err(Clone::clone(error)));
        match scanned {
            Ok(outcome) => {
                providers.note_result(used, now, AnswerSource::Node, &Ok(()));
                let is_due = self.compared_at.is_none_or(|at| now >= at.saturating_add(COMPARE_EVERY));
                if *outcome == ScanOutcome::UpToDate && is_due {
                    self.compare(providers, now);
                }
            }
            Err(ScanError::Node(error)) => failed(AnswerSource::Node, error),
            // A balance is a contract's word, or that of a node without old state.
            Err(ScanError::Balance(error)) => failed(AnswerSource::Contract, error),
            // Behind the others, or on another branch than before: another provider goes on.
            Err(ScanError::Lagging { .. } | ScanError::Missing { .. }) => self.compare(providers, now),
            // Every block is what its header says; the chain was reorganised between two requests, or a load balancer
            // has nodes on different branches. That is no lie.
            Err(ScanError::BrokenParent(_)) => {
                failed(AnswerSource::Node, &Unavailable::Incomplete("chain without a gap").into());
            }
            Err(ScanError::MarkElsewhere { .. }) => providers.note_lie(used, now),
            // Who is wrong is noted where it was found out, if it can be known.
            Err(ScanError::ProvidersDisagree { .. } | ScanError::TooDeep { .. }) => {}
            Err(ScanError::Rows(_) | ScanError::Store(_) | ScanError::Row(_)) => {}
        }
    }

    fn compare(&mut self, providers: &Providers, now: u64) {
        drop(providers.compare_heads(now));
        self.compared_at = Some(now);
    }
}
