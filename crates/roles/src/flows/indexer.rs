//! The role `indexer`: follows the chain, block by block, and keeps the list of players whose payments count.
//!
//! A wallet is a player's when his account is open: that is what signing in does. So the list is read from the accounts: new
//! ones in each step, behind its blocks, so that nobody who has signed in and then paid is taken for a stranger.

use std::collections::BTreeMap;

use bankroll_chains_evm::{Address, At, B256, Node};
use bankroll_deposits::{DepositChange, Scanned, Scanning, scanner};
use bankroll_ledger::{AccountId, Kind, Name};
use bankroll_store::{AccountFilter, Clock, Reader, Rows};

use super::{
    RowsAt, Setup, Stop,
    pace::{Round, rounds},
};
use crate::log::Log;

/// Accounts read at a time.
const PAGE: usize = 1_000;

/// Follows the chain until it is time to stop.
pub fn follow(setup: &Setup, rows: &RowsAt, log: &Log, stop: &Stop) {
    let mut follower = Follower { setup, log, clock: Clock::machine(), open: None, nodes: Vec::new() };
    let chain = setup.chain();
    log.say(
        "follows",
        &format!("follows {chain}: deposits to {} are final after {} blocks", setup.wallet, setup.confirmations),
        &[],
    );
    rounds("indexer", setup.poll, log, stop, |turn| follower.round(rows, turn));
}

struct Follower<'a> {
    setup: &'a Setup,
    log: &'a Log,
    clock: Clock,
    nodes: Vec<Node>,
    open: Option<Open>,
}

/// What is known while the rows can be reached.
struct Open {
    rows: Rows,
    scanning: Scanning,
    players: BTreeMap<Address, Name>,
    /// The last account that was read.
    read_to: Option<AccountId>,
    /// Where the course is, once a step has told.
    at: Option<(u64, B256)>,
}

impl Follower<'_> {
    fn round(&mut self, at: &RowsAt, turn: usize) -> anyhow::Result<Round> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = at.open()?;
                let scanning = self.setup.scanning(self.setup.asset(rows.reader())?, BTreeMap::new());
                Open { rows, scanning, players: BTreeMap::new(), read_to: None, at: None }
            }
        };
        let head = node.header(At::Latest)?;
        let head = head.map(|head| (head.number, head.hash));
        if head.is_some() && head == open.at {
            self.open = Some(open);
            return Ok(Round::Idle);
        }
        let ahead = scanner::look(&open.scanning, node, &open.rows)?;
        open.read_players(&self.setup.server)?;
        let scanned = scanner::take(&open.scanning, ahead, self.clock.now(), &open.rows)?;
        let round = match scanned {
            Scanned::UpToDate => {
                open.at = head;
                Round::Idle
            }
            Scanned::Moved { to, unwound_to, deposits } => {
                open.at = Some((to.number, to.hash));
                if let Some(fork) = unwound_to {
                    let sentence = format!("the chain was reorganised: block {fork} is the last that stayed");
                    self.log.say("reorganised", &sentence, &[("block", fork.into())]);
                }
                deposits.iter().for_each(|change| self.tell(change));
                Round::Busy
            }
        };
        // Kept only when all went well: after a failure everything is read again.
        self.open = Some(open);
        Ok(round)
    }

    fn tell(&self, change: &DepositChange) {
        let (event, id, epoch, what) = match change {
            DepositChange::Included(id, epoch) => ("deposit_included", id, epoch, "is in a block"),
            DepositChange::Final(id, epoch) => ("deposit_final", id, epoch, "is final"),
            DepositChange::Orphaned(id, epoch) => ("deposit_orphaned", id, epoch, "is no longer on the chain"),
        };
        self.log.tell(event, || {
            (format!("deposit {id} {what}"), vec![("deposit", id.to_string().into()), ("epoch", (*epoch).into())])
        });
    }
}

impl Open {
    /// Adds the players whose accounts were opened since.
    fn read_players(&mut self, server: &Name) -> anyhow::Result<()> {
        let reader: &Reader = self.rows.reader();
        let (before, scope) = (self.players.len(), Some(server.to_string()));
        let mut filter =
            AccountFilter { scope, kind: Some(Kind::Funds), after: self.read_to, ..AccountFilter::default() };
        loop {
            let accounts = reader.accounts(&filter, PAGE)?;
            let Some(last) = accounts.last() else { break };
            filter.after = Some(last.id);
            let wallets = accounts.iter().filter_map(|account| account.name.owner.as_ref());
            self.players.extend(wallets.filter_map(|owner| Some((address_of(owner)?, owner.clone()))));
        }
        self.read_to = filter.after;
        if self.players.len() > before {
            for watched in self.scanning.watch.addresses.values_mut() {
                watched.payer = bankroll_deposits::Payer::Sender(self.players.clone());
            }
        }
        Ok(())
    }
}

/// The address that an owner is, written as every wallet's is. Otherwise two accounts could be one wallet's, and a payment
/// be the other's; and an owner that is no address of this chain pays some other way.
fn address_of(owner: &Name) -> Option<Address> {
    let address: Address = owner.as_str().parse().ok()?;
    (format!("{address:#x}") == owner.as_str()).then_some(address)
}
