//! The role `indexer`: calls `bankroll_deposits::Indexer` again and again, and logs what it did.

use bankroll_chains_evm::Providers;
use bankroll_deposits::{ChainSource, Indexer, ProviderChoice, ScanOutcome};
use bankroll_ledger::Time;
use bankroll_store::{Clock, Rows, StoreError};
use bankroll_terminal::Assets;

use super::{
    FlowSetup, RowsLocation, StopFlag, deposit_log, heads_socket,
    pace::{LoopRound, WakeFlag, rounds_woken},
};
use crate::{log::NodeLog, registry::ChainView};

/// Follows the chain until a stop is requested.
pub fn follow(setup: &FlowSetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    let mut indexer_loop = IndexerLoop {
        setup,
        log,
        clock: Clock::machine(),
        open: None,
        providers: None,
        choice: ProviderChoice::default(),
    };
    let chain = setup.chain();
    log.write("follows", &format!("follows {chain}: deposits are final after {} blocks", setup.confirmations), &[]);
    let (wake, urls) = (WakeFlag::default(), setup.heads.urls());
    std::thread::scope(|scope| {
        for url in &urls {
            scope.spawn(|| heads_socket::listen(setup, url, &wake, log, stop));
        }
        rounds_woken("indexer", setup.poll, log, stop, &wake, |_| indexer_loop.round(rows));
    });
}

struct IndexerLoop<'a> {
    setup: &'a FlowSetup,
    log: &'a NodeLog,
    clock: Clock,
    providers: Option<Providers>,
    choice: ProviderChoice,
    /// Kept while all goes well: after a failure everything is read again.
    open: Option<OpenIndexer>,
}

struct OpenIndexer {
    rows: Rows,
    indexer: Indexer,
    view: ChainView,
    assets: Assets,
}

impl IndexerLoop<'_> {
    fn round(&mut self, at: &RowsLocation) -> anyhow::Result<LoopRound> {
        let providers = match self.providers.take() {
            Some(providers) => providers,
            None => self.setup.providers()?,
        };
        let done = self.round_with(at, &providers);
        self.providers = Some(providers);
        done
    }

    fn round_with(&mut self, at: &RowsLocation, providers: &Providers) -> anyhow::Result<LoopRound> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open(at, providers.len())?,
        };
        if open.view.update(open.rows.reader())? {
            open.assets = Assets::new(open.rows.reader().assets()?);
        }
        if !open.view.is_registered() {
            self.open = Some(open);
            return Ok(LoopRound::Waits(format!("the registry does not list {} yet", self.setup.chain())));
        }
        let outcome = open.step(self.clock.now(), providers, &mut self.choice)?;
        if let ScanOutcome::Moved { unwound_to, deposits, notices, .. } = &outcome {
            if let Some(fork) = unwound_to {
                let sentence = format!("the chain was reorganised: block {fork} is the last common one");
                self.log.write("reorganised", &sentence, &[("block", (*fork).into())]);
            }
            deposit_log::write_seen(self.log, &open.assets, deposits);
            deposit_log::write_notices(self.log, notices);
        }
        self.open = Some(open);
        Ok(if outcome == ScanOutcome::UpToDate { LoopRound::Idle } else { LoopRound::Busy })
    }

    fn open(&self, at: &RowsLocation, providers: usize) -> anyhow::Result<OpenIndexer> {
        let rows = Rows::open(at)?;
        let coin = self.setup.asset(rows.reader())?;
        let (view, assets) = (ChainView::new(self.setup.chain(), coin), Assets::new(rows.reader().assets()?));
        Ok(OpenIndexer { indexer: Indexer::new(self.setup.scan_config(coin, providers)), rows, view, assets })
    }
}

impl OpenIndexer {
    fn step(&mut self, now: Time, providers: &Providers, choice: &mut ProviderChoice) -> anyhow::Result<ScanOutcome> {
        let Self { rows, indexer, view, .. } = self;
        let milliseconds = now.0 / 1_000;
        let provider = providers.best(milliseconds);
        let source = ChainSource { node: &provider.node, providers: Some(providers) };
        let mut unreadable = None;
        let scanned = indexer.step(now, source, rows, |reader, watch| {
            if let Err(error) = view.update_watch_list(reader, watch) {
                unreadable = Some(error);
                // Ends the step before anything is written; the error itself is below.
                return Err(StoreError::Unreachable);
            }
            Ok(())
        });
        if let Some(error) = unreadable {
            return Err(error.into());
        }
        choice.note(providers, &provider.name, milliseconds, &scanned);
        Ok(scanned?)
    }
}
