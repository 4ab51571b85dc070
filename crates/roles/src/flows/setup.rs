//! What a node knows of its chain, the wallet behind it and the server whose players pay there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context;
use bankroll_chains_evm::{Address, Identity, InProcessRpc, Limits, Node};
use bankroll_deposits::{Payer, Rules as DepositRules, Scanning, ServerRules, Servers, WatchList, Watched};
use bankroll_ledger::{AccountName, Asset, AssetId, Kind, Name, Scope, Unit};
use bankroll_orders::ChainId;
use bankroll_signer_client::SignerClient;
use bankroll_store::{DatabaseUrl, Ledger, Reader, Rows, StoreError};
use bankroll_withdrawals::{Paying, Policy, Rules, price::Ceiling};

use super::Rpc;

/// How long a signer may take for an answer: two syncs, and whatever stands before them.
const SIGNER_PATIENCE: Duration = Duration::from_secs(10);
/// The wallet's name in the books.
const WALLET: &str = "hot";
/// Blocks that one step of the scanner reads at the most.
const BLOCKS_PER_STEP: u64 = 100;
/// A transfer to a contract that does something small; more than that is not paid without a person.
const GAS_MAX: u64 = 100_000;
/// How much longer than final something is watched, in confirmations.
const WATCHED: u64 = 2;
/// How deep a reorganisation is followed, in confirmations.
const WINDOW: u64 = 4;

/// How nodes of the chain are reached.
#[derive(Clone, Debug)]
pub enum Way {
    /// At these addresses, which may have keys in them; the next one whenever one fails.
    Http(Rpc),
    /// In this process.
    Here(InProcessRpc),
}

/// Where a flow's rows are written.
#[derive(Clone, Debug)]
pub enum RowsAt {
    /// Through the writer in this process.
    Here(Ledger),
    /// In a database whose writer may be elsewhere.
    Database(DatabaseUrl),
}

impl RowsAt {
    pub(crate) fn open(&self) -> Result<Rows, StoreError> {
        match self {
            Self::Here(ledger) => Rows::beside(ledger),
            Self::Database(url) => Rows::of(url.clone()),
        }
    }
}

/// Everything that the flows of one chain need to know.
#[derive(Clone, Debug)]
pub struct Setup {
    pub way: Way,
    pub identity: Identity,
    /// The chain's coin as the books list it; its chain is the chain's name.
    pub coin: Asset,
    /// Where players pay to, and are paid from.
    pub wallet: Address,
    /// Where the house's own capital comes from.
    pub treasury: BTreeSet<Address>,
    pub confirmations: u64,
    /// The first block that is read.
    pub start: u64,
    /// How often it is looked whether there is something new.
    pub poll: Duration,
    /// After how long the same bytes are sent again.
    pub resend: Duration,
    /// After how long a transaction that others wait for is replaced by one that pays more.
    pub stuck: Duration,
    pub in_flight_max: usize,
    /// The most that a unit of gas may cost, in wei.
    pub fee_max: u128,
    pub signer: PathBuf,
    pub server: Name,
    pub rules: ServerRules,
    pub policy: Policy,
    /// Who hands over to the books.
    pub node: String,
}

impl Setup {
    /// The chain's name in the books: `eip155:1`.
    pub(crate) fn chain(&self) -> &Name {
        &self.coin.chain
    }

    pub(crate) fn nodes(&self) -> anyhow::Result<Vec<Node>> {
        match &self.way {
            Way::Here(rpc) => Ok(vec![Node::in_process(rpc.clone(), self.identity)]),
            Way::Http(rpc) => {
                let node = |url: String| Node::http(&url, self.identity, Limits::default());
                rpc.urls().into_iter().map(node).collect::<Result<_, _>>().context("chain.rpc")
            }
        }
    }

    pub(crate) fn signer(&self) -> SignerClient {
        SignerClient::new(&self.signer, SIGNER_PATIENCE)
    }

    /// The coin's number, once whoever holds the books has listed it.
    pub(crate) fn asset(&self, reader: &Reader) -> anyhow::Result<AssetId> {
        self.listed(reader)?.with_context(|| format!("the books do not list the coin of {} yet", self.chain()))
    }

    /// The same for who must tell books without the coin from books that could not be read.
    pub(crate) fn listed(&self, reader: &Reader) -> Result<Option<AssetId>, StoreError> {
        let is_ours = |asset: &Asset| asset.chain == self.coin.chain && asset.unit == Unit::Native;
        Ok(reader.assets()?.into_iter().find(|(_, asset)| is_ours(asset)).map(|(id, _)| id))
    }

    /// The account of the wallet: what it must hold on chain.
    pub fn custody(&self, asset: AssetId) -> AccountName {
        let owner = Some(WALLET.parse().expect("a legal name"));
        AccountName { scope: Scope::House, kind: Kind::Custody, asset, owner }
    }

    pub(crate) fn scanning(&self, asset: AssetId, players: BTreeMap<Address, Name>) -> Scanning {
        let watched = Watched {
            server: self.server.clone(),
            custody: self.custody(asset),
            payer: Payer::Sender(players),
            since: self.start,
        };
        Scanning {
            rules: DepositRules { chain: self.chain().clone(), confirmations: self.confirmations },
            watch: WatchList {
                addresses: BTreeMap::from([(self.wallet, watched)]),
                treasury: self.treasury.clone(),
                own: BTreeSet::new(),
            },
            start: self.start,
            window: self.confirmations.saturating_mul(WINDOW).max(64),
            blocks_per_step: BLOCKS_PER_STEP,
        }
    }

    pub(crate) fn servers(&self) -> Servers {
        Servers::from([(self.server.clone(), self.rules)])
    }

    pub(crate) fn paying(&self, asset: AssetId) -> Paying {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Paying {
            chain: self.chain().clone(),
            chain_id: ChainId(self.identity.chain_id),
            address: bankroll_orders::Address(self.wallet.into()),
            custody: self.custody(asset),
            rules: Rules {
                confirmations: self.confirmations,
                horizon: self.confirmations.saturating_mul(WATCHED),
                resend_after: micros(self.resend),
                stuck_after: micros(self.stuck),
                // Nobody outbids a quiet chain by more than this part of the whole.
                ceiling: Ceiling { max: self.fee_max, priority: self.fee_max / 10 },
                gas_max: GAS_MAX,
                in_flight_max: self.in_flight_max,
            },
            node_name: self.node.clone(),
        }
    }
}
