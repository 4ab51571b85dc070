//! What the streams have covered: printed with the result, and required, so that the coverage cannot shrink unnoticed.

use std::collections::BTreeMap;

use bankroll_testkit::model::ModelOutcome;

/// Codes that every run of usual length must have covered.
const EVERY_CODE: [&str; 25] = [
    "key_malformed",
    "legs_out_of_range",
    "amount_zero",
    "accounts_must_differ",
    "fact_malformed",
    "key_not_allowed",
    "not_confirmed",
    "key_reused",
    "server_paused",
    "account_not_found",
    "hold_not_found",
    "transfer_not_found",
    "not_reversible",
    "already_reversed",
    "not_allowed",
    "asset_mismatch",
    "hold_expired",
    "guard_failed",
    "fact_refused",
    "hold_settled",
    "hold_exceeded",
    "insufficient_funds",
    "custody_short",
    "debt_account_not_found",
    "balance_overflow",
];

#[derive(Default)]
pub struct Counts {
    pub requests: u64,
    pub applied: u64,
    pub replayed: u64,
    pub restarts: u64,
    pub expired: u64,
    pub audited: u64,
    /// Calls that were decided while the batch before theirs was in flight.
    pub decided_ahead: u64,
    pub codes: BTreeMap<String, u64>,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { requests, applied, replayed, restarts, expired, audited, decided_ahead, codes } = self;
        write!(
            f,
            "{requests} requests, {applied} applied, {replayed} replayed, {restarts} restarts, {expired} holds expired, \
             {audited} records audited, {decided_ahead} calls decided ahead, rejections {codes:?}"
        )
    }
}

impl Counts {
    /// Codes that were not covered yet.
    pub fn missing(&self) -> Vec<&'static str> {
        EVERY_CODE.into_iter().filter(|code| !self.codes.contains_key(*code)).collect()
    }

    pub fn note(&mut self, outcome: &ModelOutcome) {
        self.requests += 1;
        match outcome.code() {
            _ if outcome.replayed => self.replayed += 1,
            None => self.applied += 1,
            Some(code) => *self.codes.entry(code.to_owned()).or_default() += 1,
        }
    }
}
