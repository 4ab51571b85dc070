//! The whole work of the role `indexer` on one chain: the scanner, and the players whose payments count.
//!
//! A wallet belongs to a player as soon as the player's account is open: signing in opens it. So the list of
//! players is read from the accounts.
//!
//! The order inside a step is a rule of deposits: **read ahead, then read the players, then apply the blocks.** A
//! player who signed in before paying has an account before the payment's block exists; the players are read after
//! that block, so the payment is never taken for a stranger's. The other way round, an account opened between the
//! two reads would be missed.

use bankroll_chains_evm::{Address, BlockTag, RpcNode};
use bankroll_ledger::{AccountId, AccountKind, Name, Scope, Time};
use bankroll_store::{AccountFilter, Reader, Rows, StoreError};

use crate::{
    Payer, ScanConfig, ScanOutcome,
    error::ScanError,
    follower::BlockPoint,
    scanner::{apply_blocks, read_ahead},
};

/// Accounts read at a time.
const PAGE: usize = 1_000;

/// One chain as the role `indexer` follows it. A caller whose step failed may keep it or make a new one.
#[derive(Clone, Debug)]
pub struct Indexer {
    config: ScanConfig,
    /// The last account that was read.
    read_to: Option<AccountId>,
    /// The RPC node's newest block after the last step, if that step read everything.
    up_to_date_at: Option<BlockPoint>,
}

impl Indexer {
    /// Follows the chain for the players of the watched addresses' servers.
    #[must_use]
    pub const fn new(config: ScanConfig) -> Self {
        Self { config, read_to: None, up_to_date_at: None }
    }

    /// One step: blocks ahead, players, deposits.
    ///
    /// # Errors
    /// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step
    /// finds out.
    pub fn step(&mut self, now: Time, node: &RpcNode, rows: &Rows) -> Result<ScanOutcome, ScanError> {
        let head = node.header(BlockTag::Latest)?.map(|head| BlockPoint::from(&head));
        if head.is_some() && head == self.up_to_date_at {
            return Ok(ScanOutcome::UpToDate);
        }
        let ahead = read_ahead(&self.config, node, rows)?;
        self.read_players(rows.reader())?;
        let scanned = apply_blocks(&self.config, ahead, now, rows)?;
        self.up_to_date_at = match &scanned {
            ScanOutcome::UpToDate => head,
            ScanOutcome::Moved { to, .. } => Some(*to),
        };
        Ok(scanned)
    }

    /// Adds the players whose accounts were opened since the last step.
    fn read_players(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let mut filter =
            AccountFilter { kind: Some(AccountKind::Funds), after: self.read_to, ..AccountFilter::default() };
        loop {
            let accounts = reader.accounts(&filter, PAGE)?;
            let Some(last) = accounts.last() else { break };
            filter.after = Some(last.id);
            for account in &accounts {
                let Some(owner) = &account.name.owner else { continue };
                let Some(wallet) = wallet_of(owner) else { continue };
                for watched in self.config.watch.addresses.values_mut() {
                    let is_theirs = matches!(&account.name.scope, Scope::Server(server) if *server == watched.server);
                    if let (true, Payer::Sender(players)) = (is_theirs, &mut watched.payer) {
                        players.insert(wallet, owner.clone());
                    }
                }
            }
        }
        self.read_to = filter.after;
        Ok(())
    }
}

/// The wallet that an account's owner is, in the one spelling that counts: lowercase hexadecimal. A second spelling
/// of the same address would be a second account of one wallet, and a payment could be credited to either. An owner
/// that is not an address of this chain pays some other way.
#[must_use]
pub fn wallet_of(owner: &Name) -> Option<Address> {
    let address: Address = owner.as_str().parse().ok()?;
    (address.lower_hex() == owner.as_str()).then_some(address)
}
