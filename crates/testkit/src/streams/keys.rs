//! Idempotency keys: fresh ones, ordered and not, shared texts in different scopes, and repeated requests.

use bankroll_ledger::{Action, Amount, IdempotencyKey, Leg, Namespace, Principal, Request, Scope};

use super::{Stream, name};

impl Stream {
    pub(super) fn key(&mut self, principal: &Principal) -> IdempotencyKey {
        let namespace = match principal {
            Principal::Indexer => Namespace::Deposits,
            Principal::Tables => Namespace::Tables,
            Principal::User(_) => Namespace::Player,
            Principal::System => {
                self.one_of(&[Namespace::System, Namespace::Payouts, Namespace::Hot, Namespace::Deposits])
            }
            _ => Namespace::Client,
        };
        let server = match principal {
            Principal::GameServer(server) | Principal::Developer(server) => server.clone(),
            _ => self.one_of(&self.servers.clone()),
        };
        let bound = matches!(principal, Principal::GameServer(_) | Principal::Developer(_) | Principal::User(_));
        let scope = if !bound && self.chance(30) { Scope::House } else { Scope::Server(server) };
        self.keys_made += 1;
        let number = self.keys_made;
        let text = match self.rng.u32(0..20) {
            // A few texts that repeat: they must collide in one namespace and scope, and nowhere else.
            0 => format!("shared-{}", self.rng.u32(0..6)),
            1..10 => format!("{:016x}", self.rng.u64(..)),
            _ => format!("{number:08}"),
        };
        let text = match principal {
            Principal::User(wallet) => format!("{wallet}/{text}"),
            Principal::Developer(_) => format!("developer/{text}"),
            Principal::Admin(person) => format!("admin/{person}/{text}"),
            _ => text,
        };
        IdempotencyKey { namespace, scope, text }
    }

    /// An earlier request: unchanged, or with the same key and another body.
    pub(super) fn repeated(&mut self) -> Request {
        let all = self.history.len();
        let from = if self.chance(50) { all.saturating_sub(30) } else { 0 };
        let mut request = self.history[self.rng.usize(from..all)].clone();
        if self.chance(25) {
            self.alter(&mut request);
        }
        request
    }

    fn alter(&mut self, request: &mut Request) {
        match (self.rng.u32(0..3), &mut request.action) {
            (0, Action::Legs(legs)) if !legs.is_empty() => {
                if let Leg::Move { amount, .. } | Leg::Hold { amount, .. } | Leg::Post { amount, .. } = &mut legs[0] {
                    *amount = Amount::new(amount.units() ^ 1);
                }
            }
            (1, _) => request.references.hand = Some("another".into()),
            _ => request.principal = Principal::Admin(name("ada")),
        }
    }
}
