//! The roles, each a step at a time: the real flows, with nodes, clock and crashes supplied by the simulator.

use std::{collections::BTreeSet, error::Error};

use bankroll_chains_evm::Provider;
use bankroll_deposits::{ChainSource, CreditError, ProviderChoice, ScanError, ScanOutcome, crediting, scanner};
use bankroll_ledger::Time;
use bankroll_store::FaultKind;
use bankroll_withdrawals::{PayoutError, StepResult, WaitReason, payouts};
use fastrand::Rng;

use super::{
    Bug,
    callers::short,
    planted_bugs::remove_orphan_check,
    promises::{BrokenPromise, SafetyPromise},
    run::ROLES,
    world::{NODES, SECOND, World},
};

/// Deposits that crediting books in one step.
const CREDITS_MAX: usize = 50;

impl World {
    /// The role's node and the time by the role's own clock.
    fn node_and_time(&mut self, random: &mut Rng) -> (usize, u64) {
        let (node, late) = (random.usize(..NODES), random.u8(..10) == 0);
        let behind = if late { random.u64(1..300) * SECOND } else { 0 };
        if late {
            self.counts.count("role: clock behind");
        }
        (node, self.now.saturating_sub(behind))
    }

    pub fn scan(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let (node, now) = self.node_and_time(random);
        self.scan_with(node, now).map(drop)
    }

    /// One step of the scanner; returns whether it is idle.
    pub fn scan_with(&mut self, node: usize, now: u64) -> Result<bool, BrokenPromise> {
        if self.bug == Some(Bug::LogsBelieved) {
            self.vouch_for_logs(node);
        }
        let (used, providers) = (self.scanner_node(node), &self.scanner_nodes);
        let source = ChainSource { node: &used.node, providers: Some(providers) };
        let scanned = scanner::step(&self.scanning, Time(now), source, self.books.rows());
        ProviderChoice::default().note(providers, &used.name, now / 1_000, &scanned);
        let is_idle = matches!(scanned, Ok(ScanOutcome::UpToDate));
        let line = match &scanned {
            Ok(ScanOutcome::UpToDate) => "nothing new".into(),
            Ok(ScanOutcome::Moved { to, unwound_to, deposits, .. }) => {
                let back = unwound_to.map_or_else(String::new, |to| format!(", back to {to} first"));
                format!("up to {}{back}, {} changes of deposits", to.number, deposits.len())
            }
            Err(error) => error_chain(error),
        };
        self.note(format_args!("scanner, node {node}: {line}"));
        match scanned {
            Err(error @ (ScanError::TooDeep { .. } | ScanError::Row(_))) => {
                Err(SafetyPromise::NoSurprise.broken(error_chain(&error)))
            }
            _ => Ok(is_idle),
        }
    }

    pub fn scanner_node(&self, node: usize) -> &Provider {
        self.scanner_nodes.iter().nth(node).expect("one of the nodes")
    }

    /// One step of crediting; returns whether it is idle.
    pub fn credit(&mut self) -> Result<bool, BrokenPromise> {
        self.flush_deferred();
        let (ledger, rows) = (self.books.ledger(), self.books.rows());
        let booked = crediting::step(&self.credit_rules(), ledger, rows, CREDITS_MAX);
        let is_idle = booked.as_ref().is_ok_and(crediting::BookingOutcome::is_idle);
        self.note_crediting(booked)?;
        Ok(is_idle)
    }

    fn credit_rules(&self) -> crediting::CreditRules<'_> {
        let standing = &crediting::no_exclusions;
        crediting::CreditRules { servers: &self.servers, watch: &self.watch, standing }
    }

    pub fn credit_all(&mut self) -> Result<(), BrokenPromise> {
        while !self.credit()? {}
        Ok(())
    }

    /// Pauses crediting after it has read what is due; if it was paused before, it continues.
    pub fn stall(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        if self.stalled.is_some() {
            return self.resume_crediting(random);
        }
        self.scan(random)?;
        if self.books.has_ended() {
            return Ok(());
        }
        let (ledger, rows) = (self.books.ledger(), self.books.rows());
        let prepared = match random.u8(..4) {
            0 => crediting::prepare_reversals(rows, CREDITS_MAX),
            _ => crediting::prepare_credits(&self.credit_rules(), ledger, rows, CREDITS_MAX),
        };
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return self.note_crediting(Err(error)),
        };
        if self.bug == Some(Bug::CreditWithoutOrphanCheck) {
            remove_orphan_check(&mut prepared.requests);
        }
        let count = prepared.requests.len();
        self.note(format_args!("crediting is stopped before it asks for {count}"));
        if count == 0 {
            return Ok(());
        }
        self.counts.count("crediting: stalled");
        self.stalled = Some(prepared);
        // The worst case meanwhile: the blocks that it has read are gone.
        if random.bool() {
            self.reorg(random);
        }
        if random.bool() { self.resume_crediting(random) } else { Ok(()) }
    }

    /// Crediting submits what it read before it was paused, whatever the scanner has seen meanwhile.
    fn resume_crediting(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        for _ in 0..random.u8(..3) {
            self.scan(random)?;
            if self.books.has_ended() {
                return Ok(());
            }
        }
        let Some(prepared) = self.stalled.take() else { return Ok(()) };
        let booked = crediting::submit(prepared, self.books.ledger(), self.books.rows());
        self.note_crediting(booked)
    }

    fn note_crediting(&mut self, booked: Result<crediting::BookingOutcome, CreditError>) -> Result<(), BrokenPromise> {
        match booked {
            Ok(booked) => {
                let (credited, reversed) =
                    (booked.credited.len().saturating_add(booked.suspended.len()), booked.reversed.len());
                let refused: Vec<&str> = booked.refused.iter().map(|(_, rejection)| rejection.code()).collect();
                self.note_ok(format_args!("crediting: {credited} credited, {reversed} taken back, refused {refused:?}"))
            }
            Err(error @ (CreditError::Row(_) | CreditError::NoSuchCredit { .. })) => {
                Err(SafetyPromise::NoSurprise.broken(error_chain(&error)))
            }
            Err(error) => self.note_ok(format_args!("crediting: {}", error_chain(&error))),
        }
    }

    pub fn pay_out(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let (node, now) = self.node_and_time(random);
        for _ in 0..random.u8(1..4) {
            self.pay_out_with(node, now)?;
            if self.books.has_ended() {
                break;
            }
        }
        Ok(())
    }

    pub fn pay_out_with(&mut self, node: usize, now: u64) -> Result<(), BrokenPromise> {
        let rows = self.books.rows();
        let stepped = payouts::step(
            &self.paying,
            &BTreeSet::new(),
            &payouts::no_freezes,
            Time(now),
            &self.payout_nodes[node],
            &mut self.client,
            rows,
        );
        match stepped {
            Ok(jobs) => {
                let line: Vec<String> = jobs.iter().map(|(job, happened)| job_line(job, happened)).collect();
                self.note(format_args!("payouts, node {node}: {}", line.join("; ")));
                if self.bug == Some(Bug::RebuiltAfterLostAnswer) {
                    self.rebuild_after_lost_answers(&jobs);
                }
                Ok(())
            }
            Err(error @ PayoutError::Row(_)) => Err(SafetyPromise::NoSurprise.broken(error_chain(&error))),
            Err(error) => self.note_ok(format_args!("payouts, node {node}: {}", error_chain(&error))),
        }
    }

    /// One round of settlement; returns how many rows it consumed.
    pub fn settle(&mut self) -> usize {
        self.flush_deferred();
        if self.bug == Some(Bug::HoldReleasedOnTimeOut) {
            self.release_holds_on_time_out();
        }
        let now = Time(self.now);
        let (ledger, consumer) = self.books.consumer();
        let round = consumer.round(ledger, now);
        let rows = round.as_ref().map_or(0, |round| round.applied);
        match round {
            Ok(round) => {
                let (applied, refused, later) = (round.applied, round.refused, round.later);
                self.note(format_args!("settling: {applied} settled, {refused} refused, {later} put off"));
            }
            Err(error) => self.note(format_args!("settling: {}", error_chain(&error))),
        }
        rows
    }

    /// Counts the fault that fired in this step of a role, and restarts the process if the fault ended it.
    pub fn after_step_of(&mut self, role: &'static str) {
        let Some(trouble) = self.books.take_trouble() else { return };
        let crash = match trouble {
            FaultKind::Full => return self.counts.count("books: disk full"),
            FaultKind::Locked => return self.counts.count("books: locked"),
            FaultKind::EndsBefore => format!("crash before a commit: {role}"),
            FaultKind::EndsAfter => format!("crash after a commit: {role}"),
        };
        self.counts.count(&crash);
        self.note(&crash);
        self.books.restart();
        self.forget_memory();
    }

    pub fn restart_role(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let role = random.choice(ROLES).expect("a role");
        self.counts.count(&format!("restarted: {role}"));
        self.note(format_args!("the {role} is started anew"));
        match *role {
            "scanner" => self.restart_scanner(),
            "crediting" => self.stalled = None,
            "payouts" => self.restart_payouts(),
            "settlement" => self.books.restart_consumer(),
            // It finds the calls without an answer in its own log.
            _ => {
                for place in self.unanswered() {
                    self.submit(place, random)?;
                }
            }
        }
        Ok(())
    }
}

fn job_line(job: &str, happened: &StepResult) -> String {
    let what = match happened {
        StepResult::Signed { attempt, .. } => format!("signed {attempt}"),
        StepResult::Waits(WaitReason::Time) => "waits".into(),
        happened => format!("{happened:?}"),
    };
    format!("{} {what}", short(job))
}

/// An error with its causes.
fn error_chain(error: &dyn Error) -> String {
    let (mut line, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        line = format!("{line}: {error}");
        cause = error.source();
    }
    line
}
