//! The flows that run in this process: one thread each, stopped together.

use std::thread::{self, JoinHandle};

use bankroll_store::Ledger;

use super::{FlowSetup, HeadSettings, NotifySetup, RowsLocation, StopFlag, booking, heads, indexer, notify, payouts};
use crate::{log::NodeLog, reconciliation};

#[derive(Debug, Default)]
pub struct FlowThreads {
    stop: StopFlag,
    threads: Vec<JoinHandle<()>>,
}

impl FlowThreads {
    /// Starts crediting and settling for all chains, in a ledger that this process holds.
    pub fn book(&mut self, chains: &[FlowSetup], ledger: &Ledger, queue_max: usize, log: &NodeLog) {
        let names = chains.iter().map(|setup| setup.chain().as_str()).collect::<Vec<_>>().join(", ");
        log.write("books_flows", &format!("credits deposits of {names} and settles payouts"), &[]);
        let most = booking::rows_max(queue_max);
        let (credited, own, of) = (chains.to_vec(), ledger.clone(), log.clone());
        self.spawn(move |stop| booking::credit(&credited, &own, most, &of, stop));
        let (own, of) = (ledger.clone(), log.clone());
        self.spawn(move |stop| booking::settle(&own, most, &of, stop));
    }

    /// Starts comparing the wallets of each chain with a ledger that this process holds.
    pub fn reconcile(&mut self, chains: &[FlowSetup], ledger: &Ledger, log: &NodeLog) {
        for setup in chains {
            let (log, setup, ledger) = (log.of_chain(setup.chain(), chains.len() > 1), setup.clone(), ledger.clone());
            self.spawn(move |stop| reconciliation::watch(&setup, &ledger, &log, stop));
        }
    }

    /// Starts following each chain, each with a loop of its own.
    pub fn follow(&mut self, chains: &[FlowSetup], rows: &RowsLocation, log: &NodeLog) {
        for setup in chains {
            let (log, setup, rows) = (log.of_chain(setup.chain(), chains.len() > 1), setup.clone(), rows.clone());
            self.spawn(move |stop| indexer::follow(&setup, &rows, &log, stop));
        }
    }

    /// Starts paying on each chain that has a signer, each with a loop of its own.
    pub fn pay(&mut self, chains: &[FlowSetup], rows: &RowsLocation, log: &NodeLog) {
        for setup in chains {
            let (log, setup, rows) = (log.of_chain(setup.chain(), chains.len() > 1), setup.clone(), rows.clone());
            self.spawn(move |stop| payouts::pay(&setup, &rows, &log, stop));
        }
    }

    /// Starts publishing heads of a ledger that this process holds.
    pub fn publish_heads(&mut self, settings: &HeadSettings, ledger: &Ledger, log: &NodeLog) {
        let (settings, ledger, log) = (settings.clone(), ledger.clone(), log.clone());
        self.spawn(move |stop| heads::publish(&settings, &ledger, &log, stop));
    }

    /// Starts delivering events to webhooks.
    pub fn deliver(&mut self, setup: &NotifySetup, rows: &RowsLocation, log: &NodeLog) {
        let (setup, rows, log) = (setup.clone(), rows.clone(), log.clone());
        self.spawn(move |stop| notify::deliver(&setup, &rows, &log, stop));
    }

    /// Starts disabling webhooks that were given up, in a ledger that this process holds.
    pub fn announce(&mut self, ledger: &Ledger, log: &NodeLog) {
        let (ledger, log) = (ledger.clone(), log.clone());
        self.spawn(move |stop| notify::announce(&ledger, &log, stop));
    }

    fn spawn(&mut self, run: impl FnOnce(&StopFlag) + Send + 'static) {
        let stop = self.stop.clone();
        self.threads.push(thread::spawn(move || run(&stop)));
    }

    /// Waits until the steps in flight have ended.
    pub fn stop(self) {
        self.stop.request();
        for thread in self.threads {
            // A thread that panicked has printed its message.
            let _ = thread.join();
        }
    }
}
