//! The settings of one chain, the wallet on it and the game server whose players pay there.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use anyhow::Context;
use bankroll_chains_evm::{
    ChainIdentity, HealthRules, InProcessRpc, InvalidRpcUrl, Provider, Providers, RpcLimits, RpcNode, Tracer,
};
use bankroll_deposits::{BuyIn, DepositRules, ProviderAgreement, ScanConfig, WatchList};
use bankroll_ledger::{AccountKind, AccountName, Asset, AssetId, Name, Scope, Unit};
use bankroll_orders::{Address, ChainId};
use bankroll_signer_client::SignerClient;
use bankroll_store::{Reader, StoreError};
use bankroll_withdrawals::{ApprovalPolicy, PayoutConfig, PayoutRules, price::FeeCeiling};

use super::{AgreementRule, ChainProfile, RpcUrls};
use crate::registry::PayoutWallet;

/// How long the signer may take to answer: two syncs to disk, and the requests before this one.
const SIGNER_PATIENCE: Duration = Duration::from_secs(10);
/// The name of the wallet of `[chain]` in the books and in the registry; further chains have `hot-ID`.
pub const HOT_WALLET: &str = "hot";
/// At most this many blocks are read in one step of the scanner.
const BLOCKS_PER_STEP: u64 = 1_000;
/// Enough for a transfer to a contract that does little; a payout that needs more needs an operator.
const GAS_MAX: u64 = 100_000;
/// A payout is watched for this many times the confirmations that make it final.
const WATCHED: u64 = 2;

/// How the chain's RPC nodes are reached.
#[derive(Clone, Debug)]
pub enum RpcEndpoint {
    /// At these URLs, which may contain keys; after a failure the next one is used.
    Http(RpcUrls),
    /// In this process.
    Here(InProcessRpc),
}

/// The technical settings of a chain, and its first entries in the registry: `wallet`, `wallet_name`, `treasury`,
/// `server` and `buy_in` count only until the registry has the chain.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Where it is configured: `chain`, or `chains.NAME`.
    pub section: String,
    pub endpoint: RpcEndpoint,
    /// WebSocket URLs that announce heads; they may contain keys.
    pub heads: RpcUrls,
    pub identity: ChainIdentity,
    /// The chain's coin as the ledger lists it; `coin.chain` is the chain's name.
    pub coin: Asset,
    /// The address that players pay to and are paid from.
    pub wallet: Address,
    /// The wallet's name in the registry: no other wallet, of any chain, has it.
    pub wallet_name: Name,
    /// Addresses that the house's own capital comes from.
    pub treasury: BTreeSet<Address>,
    pub confirmations: u64,
    pub profile: ChainProfile,
    pub agreement: AgreementRule,
    /// The first block that is read.
    pub start: u64,
    /// The pause between two rounds without work.
    pub poll: Duration,
    /// When the same bytes are sent again.
    pub resend: Duration,
    /// When a transaction that blocks others is replaced by one that pays more for gas.
    pub stuck: Duration,
    pub in_flight_max: usize,
    /// The most that a unit of gas may cost, in wei.
    pub fee_max: u128,
    /// The signer's socket; `None` if nothing is paid on this chain.
    pub signer: Option<PathBuf>,
    /// The server whose players pay to the wallet.
    pub server: Name,
    /// What a place in the server's world costs; `None` if the server does not play for this chain's coin. What its
    /// players pay here is credited to them as unallocated.
    pub buy_in: Option<BuyIn>,
    pub policy: ApprovalPolicy,
    /// The name of this node, recorded with the outcomes of payouts.
    pub node: String,
}

impl FlowSetup {
    /// The chain's name in the ledger: `eip155:1`.
    pub fn chain(&self) -> &Name {
        &self.coin.chain
    }

    pub(crate) fn nodes(&self) -> anyhow::Result<Vec<RpcNode>> {
        match &self.endpoint {
            RpcEndpoint::Here(rpc) => {
                Ok(vec![RpcNode::in_process(rpc.clone(), self.identity).with_tracer(self.profile.tracer)])
            }
            RpcEndpoint::Http(rpc) => {
                let node = |url: String| {
                    let node = RpcNode::http(&url, self.identity, RpcLimits::default())?;
                    Ok::<_, InvalidRpcUrl>(node.with_tracer(self.profile.tracer))
                };
                rpc.urls().into_iter().map(node).collect::<Result<_, _>>().with_context(|| self.key("rpc"))
            }
        }
    }

    /// A key of this chain's section: `chains.polygon.rpc`.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.section)
    }

    /// `None` if nothing is paid on this chain.
    pub(crate) fn signer(&self) -> Option<SignerClient> {
        self.signer.as_ref().map(|socket| SignerClient::new(socket, SIGNER_PATIENCE))
    }

    /// The coin's number, once the holder of the ledger has listed it.
    pub(crate) fn asset(&self, reader: &Reader) -> anyhow::Result<AssetId> {
        self.listed(reader)?.with_context(|| format!("the ledger does not list the coin of {} yet", self.chain()))
    }

    /// The coin's number; `None` if the ledger does not list it, which is not a failure to read.
    pub fn listed(&self, reader: &Reader) -> Result<Option<AssetId>, StoreError> {
        let is_ours = |asset: &Asset| asset.chain == self.coin.chain && asset.unit == Unit::Native;
        Ok(reader.assets()?.into_iter().find(|(_, asset)| is_ours(asset)).map(|(id, _)| id))
    }

    /// The account of the wallet: what it must hold on chain.
    pub fn custody(&self, asset: AssetId) -> AccountName {
        AccountName { scope: Scope::House, kind: AccountKind::Custody, asset, owner: Some(self.wallet_name.clone()) }
    }

    /// The account of the gas that the house pays.
    pub(crate) fn network_fees(&self, asset: AssetId) -> AccountName {
        AccountName { scope: Scope::House, kind: AccountKind::NetworkFees, asset, owner: None }
    }

    /// All providers, each named by its host. Two URLs of one host are one provider, or its word would count twice: the
    /// first is used.
    pub(crate) fn providers(&self) -> anyhow::Result<Providers> {
        let names = match &self.endpoint {
            RpcEndpoint::Here(_) => vec!["simulated".to_owned()],
            RpcEndpoint::Http(rpc) => rpc.hosts(),
        };
        let mut list: Vec<Provider> = Vec::new();
        for (name, node) in names.into_iter().zip(self.nodes()?) {
            if list.iter().all(|known| known.name != name) {
                list.push(Provider { name, node });
            }
        }
        Ok(Providers::new(list, HealthRules::default())?)
    }

    /// Without addresses: the registry has them.
    pub(crate) fn scan_config(&self, coin: AssetId, providers: usize) -> ScanConfig {
        let agreement = self.agreement.above.map(|above| ProviderAgreement {
            above: [(coin, above.into())].into(),
            required: usize::try_from(self.agreement.providers).unwrap_or(usize::MAX),
            providers,
        });
        ScanConfig {
            rules: DepositRules { chain: self.chain().clone(), coin, confirmations: self.confirmations, agreement },
            watch: WatchList::default(),
            start: self.start,
            window: self.profile.window,
            blocks_per_step: BLOCKS_PER_STEP,
            traces: self.profile.tracer != Tracer::None,
            finality: self.profile.finality,
        }
    }

    pub(crate) fn payout_config(&self, wallet: PayoutWallet) -> PayoutConfig {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let PayoutWallet { address, custody, elsewhere } = wallet;
        PayoutConfig {
            chain: self.chain().clone(),
            chain_id: ChainId(self.identity.chain_id),
            address,
            custody,
            elsewhere,
            rules: PayoutRules {
                confirmations: self.confirmations,
                horizon: self.confirmations.saturating_mul(WATCHED),
                resend_after: micros(self.resend),
                stuck_after: micros(self.stuck),
                // The tip for block producers is at most a tenth of the whole price.
                ceiling: FeeCeiling { max: self.fee_max, priority: self.fee_max / 10 },
                gas_max: GAS_MAX,
                in_flight_max: self.in_flight_max,
            },
            node_name: self.node.clone(),
        }
    }
}
