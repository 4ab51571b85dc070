//! Whether the chain, the indexer and the signer work: asked once, in bounded time, for `doctor` and for the first lines
//! of a node. Nothing is changed, signed or sent.

use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use bankroll_chains_evm::{BlockTag, Quantity, RpcError, RpcLimits, RpcNode};
use bankroll_deposits::view;
use bankroll_ledger::Time;
use bankroll_signer_client::{SignerClient, SignerClientError};
use bankroll_store::Reader;
use bankroll_terminal::{counted, decimal, invocation, thousands};
use bankroll_withdrawals::views;

use super::{FlowSetup, RpcEndpoint, without_keys};
use crate::log::on_one_line;

/// For each RPC node: enough for a busy one, not too long to wait for.
const RPC_LIMITS: RpcLimits =
    RpcLimits { total: Duration::from_secs(5), connect: Duration::from_secs(2), answer_bytes: 16 << 20 };
const SIGNER_PATIENCE: Duration = Duration::from_secs(3);
/// An indexer that is behind and has not moved for this long does not run, or cannot go on.
const STILL: Duration = Duration::from_secs(120);

/// The number of the newest block, and what the wallet holds there.
type HeadAndBalance = (u64, Quantity);

/// What works: as it was found. What does not: with what to do.
pub type ProbeResult = Result<String, ProbeTrouble>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeTrouble {
    pub found: String,
    pub fix: String,
}

impl ProbeTrouble {
    fn new(found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { found: found.into(), fix: fix.into() }
    }
}

/// One finding about a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainFinding {
    Works(String),
    /// Nothing is wrong, and something could be better.
    Better(ProbeTrouble),
    Broken(ProbeTrouble),
}

impl From<ProbeResult> for ChainFinding {
    fn from(result: ProbeResult) -> Self {
        result.map_or_else(Self::Broken, Self::Works)
    }
}

impl FlowSetup {
    /// Asks every RPC node, reads how far the indexer is, and asks the signer. `folder` is the one with the configuration,
    /// for the commands in the answers.
    pub fn probe(&self, reader: Option<&Reader>, now: Time, folder: &str) -> Vec<(&'static str, ChainFinding)> {
        let mut found: Vec<(&'static str, ChainFinding)> = Vec::new();
        let mut head = None;
        for (url, asked) in self.ask_rpc_nodes() {
            match asked {
                Ok((newest, balance)) => {
                    let wallet = head.is_none().then(|| ("wallet", ChainFinding::Works(self.wallet_holds(balance))));
                    head = head.max(Some(newest));
                    let sentence = format!("{} at {url}: block {}", self.chain(), thousands(newest));
                    found.push(("chain", ChainFinding::Works(sentence)));
                    found.extend(wallet);
                }
                Err(error) => {
                    let trouble = ProbeTrouble::new(rpc_found(&url, &error), self.rpc_fix(&error, folder));
                    found.push(("chain", ChainFinding::Broken(trouble)));
                }
            }
        }
        found.extend(self.check_providers().map(|finding| ("providers", finding)));
        found.extend(reader.map(|reader| ("indexer", self.probe_indexer(reader, head, now).into())));
        let stopped = reader.and_then(|reader| self.stopped_payouts(reader));
        found.extend(stopped.map(|found| ("payouts", ChainFinding::Broken(found))));
        found.push(("signer", self.probe_signer(folder).into()));
        found
    }

    /// Whether one party, or anyone on the way, could make up what the chain says. `None` in this process.
    fn check_providers(&self) -> Option<ChainFinding> {
        let RpcEndpoint::Http(urls) = &self.endpoint else { return None };
        let (chain, key) = (self.chain(), self.key("rpc"));
        let plain: Vec<String> = urls.in_plain_text().into_iter().chain(self.heads.in_plain_text()).collect();
        if let Some(host) = plain.first() {
            let found = format!("{chain} is read from {host} without encryption: anyone on the way can make up blocks");
            let fix = format!("use https:// and wss:// in {key} and {}, or a tunnel to this machine", self.key("ws"));
            return Some(ChainFinding::Broken(ProbeTrouble::new(found, fix)));
        }
        let providers = urls.providers();
        if providers < 2 {
            let found = format!("{chain} has one provider: nothing else says whether its blocks are the chain's");
            let fix = format!("add the URL of another provider to {key}");
            let trouble = ProbeTrouble::new(found, fix);
            let finding = if self.profile.is_development { ChainFinding::Better } else { ChainFinding::Broken };
            return Some(finding(trouble));
        }
        Some(ChainFinding::Works(format!("{chain} has {}", counted(providers as u64, "provider", "providers"))))
    }

    /// Asks the signer for the wallet of the configuration.
    pub fn probe_signer(&self, folder: &str) -> ProbeResult {
        let Some(socket) = &self.signer else {
            return Ok(format!("none for {}: nothing is paid there ({} is empty)", self.chain(), self.key("signer")));
        };
        let (me, wallet) = (invocation(), self.wallet);
        let signer = socket.parent().map_or_else(|| folder.to_owned(), |folder| folder.display().to_string());
        let (asked, key) = (SignerClient::new(socket, SIGNER_PATIENCE).status(wallet, None), self.key("wallet"));
        let socket = socket.display();
        match asked {
            Ok(status) => match status.stopped {
                None => Ok(format!("answers at {socket}, and has the key of {wallet}")),
                Some(why) => Err(ProbeTrouble::new(
                    format!("the signer has stopped for good: {why}"),
                    format!("see `{me} signer show --dir {signer}`"),
                )),
            },
            Err(SignerClientError::WalletUnknown) => Err(ProbeTrouble::new(
                format!("the signer at {socket} does not have the key of {key} {wallet}"),
                format!("set {key} to the one that `{me} signer show --dir {signer}` prints"),
            )),
            Err(SignerClientError::Unreachable(error)) => Err(ProbeTrouble::new(
                format!("no signer answers at {socket}: {}", unreachable(&error)),
                format!(
                    "start it with `{me} signer run --dir {signer} --password-file FILE`, or set {}",
                    self.key("signer")
                ),
            )),
            Err(error) => Err(ProbeTrouble::new(
                format!("the signer at {socket} gives no answer: {}", on_one_line(&error)),
                format!("run this as the signer's user, or as `client_uid` in {signer}/signer.toml"),
            )),
        }
    }

    /// The newest block and the balance of the wallet, by each node.
    fn ask_rpc_nodes(&self) -> Vec<(String, Result<HeadAndBalance, RpcError>)> {
        let ask = |node: &RpcNode| {
            let head = node.header(BlockTag::Latest)?.map_or(0, |header| header.number);
            Ok((head, node.balance(self.wallet, BlockTag::Number(head))?))
        };
        match &self.endpoint {
            RpcEndpoint::Here(rpc) => {
                vec![("this process".into(), ask(&RpcNode::in_process(rpc.clone(), self.identity)))]
            }
            RpcEndpoint::Http(urls) => {
                let nodes = urls.urls().into_iter().filter_map(|url| {
                    // The configuration was refused if a URL cannot be used.
                    let node = RpcNode::http(&url, self.identity, RPC_LIMITS).ok()?;
                    Some((without_keys(&url), ask(&node)))
                });
                nodes.collect()
            }
        }
    }

    fn rpc_fix(&self, error: &RpcError, folder: &str) -> String {
        let [rpc, id, genesis] = ["rpc", "id", "genesis"].map(|name| self.key(name));
        match error {
            RpcError::Disagreeing(_) => {
                format!(
                    "set {id}, {genesis} and {rpc} for one chain, then `{} config check --dir {folder}`",
                    invocation()
                )
            }
            _ => format!("start the RPC node, or set {rpc} to one that runs"),
        }
    }

    fn wallet_holds(&self, balance: Quantity) -> String {
        let (wallet, symbol) = (self.wallet, &self.coin.symbol);
        match balance.amount() {
            Ok(amount) if amount.is_zero() => format!("{wallet} holds 0 {symbol}, and cannot pay for gas yet"),
            Ok(amount) => format!("{wallet} holds {} {symbol}", decimal(amount, self.coin.decimals)),
            Err(_) => format!("{wallet} holds {} wei", balance.units()),
        }
    }

    fn probe_indexer(&self, reader: &Reader, head: Option<u64>, now: Time) -> ProbeResult {
        let cursor = view::last_step(reader, self.chain().as_str())
            .map_err(|error| ProbeTrouble::new(on_one_line(&error), format!("run `{} doctor --full`", invocation())))?;
        indexer_state(cursor, head, now)
    }
}

/// Behind is normal while it reads; behind and still is not.
fn indexer_state(cursor: Option<(u64, Time)>, head: Option<u64>, now: Time) -> ProbeResult {
    let Some((block, at)) = cursor else { return Ok("has read no block yet".into()) };
    let still = Duration::from_micros(now.0.saturating_sub(at.0));
    let at = format!("at block {}", thousands(block));
    let moved = format!("moved {} ago", counted(still.as_secs(), "second", "seconds"));
    let Some(head) = head else { return Ok(format!("{at}, {moved}")) };
    let behind = head.saturating_sub(block);
    let found = format!("{at}, {} behind, {moved}", counted(behind, "block", "blocks"));
    if behind > 0 && still > STILL {
        let fix = "start `serve`; if it runs, the lines of `indexer` in its log say what it waits for";
        return Err(ProbeTrouble::new(found, fix));
    }
    Ok(found)
}

impl FlowSetup {
    /// Set for good by the payouts role, which cannot judge what else uses the wallet's key.
    fn stopped_payouts(&self, reader: &Reader) -> Option<ProbeTrouble> {
        let why = views::wallet_stopped(reader, self.chain().as_str(), self.wallet).ok().flatten()?;
        let found = format!("nothing new is paid from {}: {why}", self.wallet);
        let fix =
            "the wallet's key was used by another program: find that transaction on the chain, and stop that program";
        Some(ProbeTrouble::new(found, fix))
    }
}

fn unreachable(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such socket".into(),
        ErrorKind::ConnectionRefused => "its process has ended".into(),
        ErrorKind::PermissionDenied => "this user may not connect".into(),
        _ => error.to_string(),
    }
}

fn rpc_found(url: &str, error: &RpcError) -> String {
    format!("{url}: {}", on_one_line(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_indexer_that_is_behind_and_does_not_move_is_in_trouble() {
        let seconds = |seconds: u64| Time(seconds * 1_000_000);
        let state = |head, now| indexer_state(Some((1_000, seconds(60))), head, seconds(now));
        assert_eq!(indexer_state(None, Some(9), seconds(0)), Ok("has read no block yet".into()));
        assert_eq!(state(None, 61), Ok("at block 1,000, moved 1 second ago".into()));
        assert_eq!(state(Some(1_000), 3_660), Ok("at block 1,000, 0 blocks behind, moved 3,600 seconds ago".into()));
        assert_eq!(state(Some(1_001), 180), Ok("at block 1,000, 1 block behind, moved 120 seconds ago".into()));
        let trouble = state(Some(1_500), 181).unwrap_err();
        assert_eq!(trouble.found, "at block 1,000, 500 blocks behind, moved 121 seconds ago");
        assert!(trouble.fix.contains("start `serve`"), "{}", trouble.fix);
    }
}
