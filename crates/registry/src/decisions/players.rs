//! What players decide about themselves.

use bankroll_ledger::{Name, Time};

use super::RegistryDecision;
use crate::{
    RegisteredPlayer, Registry, RegistryChange, RegistryRefusal, RevokedSession, SessionClaims, refusal::missing,
};

impl Registry {
    /// Excludes a player until a time: the end of an exclusion only ever moves later.
    ///
    /// # Errors
    /// If the player never signed in, or the time is not later than now and than the exclusion they have.
    pub fn exclude(&self, player: &Name, until: Time, now: Time) -> RegistryDecision {
        let entry = self.player(player).ok_or_else(|| missing("player", player))?;
        if until <= now || until.0 > i64::MAX.cast_unsigned() {
            return Err(RegistryRefusal::Malformed { field: "until", why: "a time in the future" });
        }
        match entry.excluded_until {
            Some(current) if current == until => Ok(Vec::new()),
            Some(current) if until < current => Err(RegistryRefusal::ExclusionNotLater { until: current }),
            _ => {
                let revision = entry.revision.saturating_add(1);
                let excluded = RegisteredPlayer { excluded_until: Some(until), revision, ..entry.clone() };
                Ok(vec![RegistryChange::Player(excluded)])
            }
        }
    }

    /// Ends a session before its time. No change if it has ended.
    #[must_use]
    pub fn close_session(&self, session: &SessionClaims, now: Time) -> Vec<RegistryChange> {
        if self.is_session_revoked(session.id) {
            return Vec::new();
        }
        let (session, expires_at) = (session.id, session.expires_at);
        vec![RegistryChange::RevokedSession(RevokedSession { session, expires_at, revoked_at: now })]
    }
}
