//! Everything outside of a job that a step of the payouts role works with.

use std::collections::BTreeSet;

use bankroll_chains_evm::RpcNode;
use bankroll_ledger::{ColumnValue, Name, Time};
use bankroll_signer_client::SignerClient;
use bankroll_store::{Rows, Statement, columns::text};

use crate::{PayoutConfig, PayoutError, job::PayoutJob, payouts::IsFrozen, rows};

/// One step's view of the world. All jobs of the step share it.
pub(crate) struct StepContext<'a> {
    pub config: &'a PayoutConfig,
    /// Servers whose payouts wait.
    pub paused: &'a BTreeSet<Name>,
    pub is_frozen: IsFrozen<'a>,
    pub now: Time,
    pub node: &'a RpcNode,
    pub signer: &'a mut SignerClient,
    pub rows: &'a Rows,
    /// The height of the chain when the step began.
    pub head: u64,
}

impl StepContext<'_> {
    /// Writes rows, all or none.
    pub fn write(&self, statements: Vec<Statement>) -> Result<(), PayoutError> {
        self.rows.write(statements)?;
        Ok(())
    }

    /// The statement that changes a job as it was read.
    pub fn change(&self, job: &PayoutJob, set: &[(&str, ColumnValue)]) -> Statement {
        rows::change(job, set, self.now)
    }

    /// The values that select the rows of the wallet: chain and address.
    pub fn wallet_key(&self) -> [ColumnValue; 2] {
        [text(self.config.chain.as_str()), text(&self.config.address.to_string())]
    }

    /// The statement that sets a column of the wallet's own row.
    pub fn set_wallet(&self, column: &str, value: &str) -> Statement {
        rows::set_wallet(&self.config.chain, self.config.address, column, value)
    }
}
