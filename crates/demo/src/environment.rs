//! Everything around the game and the service: the chain, the signer's process, the players' wallets, and the settings
//! of the flows between them and the books, which run in the service.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Instant,
};

use anyhow::ensure;
use bankroll_chains_evm::{InProcessRpc, RpcNode};
use bankroll_chains_simulated::SimulatedChain;
use bankroll_deposits::view;
use bankroll_ledger::{AccountName, Amount};
use bankroll_orders::Address;
use bankroll_roles::{
    flows::{AgreementRule, ChainProfile, FlowSetup, HOT_WALLET, RpcEndpoint, RpcUrls},
    reconcile::{Reconciliation, Wallet, reconcile},
};
use bankroll_store::{Location, Reader};

use super::{
    DemoArgs,
    arena::{self, Arena},
    chain::{CHAIN, ChainServer, DemoChain, treasury},
    disk,
    player_wallets::{self, PlayerWallets, TREASURY},
    signer::SignerProcess,
    tempo,
};

pub struct Environment {
    folder: PathBuf,
    pub chain: DemoChain,
    pub wallets: PlayerWallets,
    pub signer: SignerProcess,
    pub setup: FlowSetup,
    custody: AccountName,
    served: Option<ChainServer>,
    notes: Receiver<String>,
    /// The chain's height when this game began.
    pub since: u64,
}

impl Environment {
    /// Restores the chain, and starts the signer and the wallets. Nothing is booked yet.
    pub fn open(args: &DemoArgs, location: &Location, arena: &Arena, reader: &Reader) -> anyhow::Result<Self> {
        let folder = &args.dir;
        let every = if args.ticks.is_some() { tempo::BLOCK_EVERY_COUNTED } else { tempo::BLOCK_EVERY };
        let chain = DemoChain::open(folder, every)?;
        let since = chain.height();
        check_cursor(reader, &chain)?;
        let (to, notes) = channel();
        let signer = SignerProcess::start(folder, to)?;
        let wallet = signer.wallet;
        let wallets = PlayerWallets::open(&chain.shared, wallet, Reader::open(location)?)?;
        let setup = FlowSetup {
            section: "chain".into(),
            heads: RpcUrls::default(),
            endpoint: RpcEndpoint::Here(InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&chain.shared), 0))),
            identity: chain.identity,
            coin: arena::coin()?,
            wallet,
            wallet_name: HOT_WALLET.parse()?,
            treasury: [Address(treasury().address().into_array())].into(),
            confirmations: tempo::CONFIRMATIONS,
            profile: ChainProfile::development(tempo::CONFIRMATIONS),
            agreement: AgreementRule { above: None, providers: 1 },
            start: 1,
            poll: tempo::POLL,
            resend: tempo::RESEND,
            stuck: tempo::RESEND * 10,
            in_flight_max: tempo::IN_FLIGHT_MAX,
            fee_max: tempo::FEE_MAX,
            signer: Some(signer.socket.clone()),
            server: arena.server.clone(),
            buy_in: Some(arena::BUY_IN),
            policy: arena::policy(),
            node: "demo".into(),
        };
        let custody = setup.custody(arena.asset);
        Ok(Self { folder: folder.clone(), chain, wallets, signer, setup, custody, served: None, notes, since })
    }

    /// Serves the chain to other processes, and returns its URL.
    pub fn serve_chain(&mut self) -> anyhow::Result<String> {
        let served = ChainServer::start(&self.chain.shared)?;
        let url = served.url.clone();
        self.served = Some(served);
        Ok(url)
    }

    /// The messages of the signer since the last call.
    pub fn notes(&self) -> Vec<String> {
        self.notes.try_iter().collect()
    }

    /// Pays capital in if the house has little of its own left, and waits until it is booked: the house pays for gas.
    pub fn bring_capital(&self, reader: &Reader, arena: &Arena) -> anyhow::Result<()> {
        let balance = |id| reader.account(id).map(|account| account.map_or(Amount::ZERO, |account| account.balance));
        let left = balance(arena.house)?.checked_sub(balance(arena.network_fees)?).unwrap_or(Amount::ZERO);
        if left.units() < tempo::CAPITAL / 2 {
            let payment = self.wallets.pay(TREASURY, Amount::new(tempo::CAPITAL));
            let until = Instant::now() + player_wallets::PATIENCE;
            while !self.wallets.wait_within(payment, tempo::CHECK_EVERY) {
                self.check()?;
                ensure!(Instant::now() < until, "the house paid its capital, but the books did not credit it in time");
            }
        }
        Ok(())
    }

    /// Fails if waiting is in vain: the disk is full, or the chain or the wallets have stopped. Called when nothing
    /// has happened for [`tempo::CHECK_EVERY`].
    pub fn check(&self) -> anyhow::Result<()> {
        disk::check(&self.folder)?;
        self.chain.check()?;
        self.wallets.check()
    }

    /// Compares the chain with the books.
    pub fn reconcile(&self, reader: &Reader) -> anyhow::Result<Reconciliation> {
        let node = RpcNode::in_process(
            InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&self.chain.shared), 0)),
            self.chain.identity,
        );
        let (address, custody) = (self.setup.wallet, self.custody.clone());
        reconcile(&node, reader, &Wallet { chain: CHAIN, address, custody, since: self.since })
    }

    /// Called when the service has stopped: its flows use everything here.
    pub fn stop(self) -> anyhow::Result<()> {
        let ended =
            [self.wallets.stop(), self.signer.stop(), self.served.map_or(Ok(()), ChainServer::stop), self.chain.stop()];
        ended.into_iter().collect()
    }
}

/// The books store the last block they have read. On another chain they would reverse every deposit.
fn check_cursor(reader: &Reader, chain: &DemoChain) -> anyhow::Result<()> {
    let Some(cursor) = view::cursor(reader, CHAIN)? else { return Ok(()) };
    let (number, hash) = (cursor.number, cursor.hash);
    let ours = super::chain::lock(&chain.shared).block(number).map(|block| block.hash);
    ensure!(
        ours == Some(hash),
        "these books have read block {number} of another chain than the one in the demo's folder; \
         give the folder that belongs to them, or start over with --fresh or an empty database"
    );
    Ok(())
}
