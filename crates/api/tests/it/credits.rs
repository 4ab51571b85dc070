//! Credited deposits, as the deposits flow writes them.

use bankroll_ledger::{Action, Amount, ColumnValue, Fact, Guard, GuardFailure, Leg, RowKey};

use serde_json::json;

use crate::world::{World, funds_of, player};

impl World {
    /// From a server's budget into its world.
    pub fn pellets(&self, server: &str, amount: &str) {
        self.post(server, &format!("/v1/servers/{server}/pellets"), json!({ "amount": amount })).expect(200);
    }

    /// A deposit that is credited to a player of the arena as a buy-in of this amount.
    pub fn deposit(&self, id: &str, name: &str, amount: u128) {
        self.deposit_in("credited", id, name, amount);
    }

    /// The same in another state of the ledger: `credited`, `suspense` or `none`.
    pub fn deposit_in(&self, state: &str, id: &str, name: &str, amount: u128) {
        let to = if state == "suspense" { "@house/suspense/1".to_owned() } else { funds_of("arena", name) };
        let (from, to, is_booked) = (self.account("@house/custody/1/hot"), self.account(&to), state != "none");
        let (text, int) = (|value: &str| ColumnValue::Text(value.to_owned()), ColumnValue::Int);
        let set = [
            ("chain", text("eip155:1337")),
            ("tx_hash", text(&format!("0x{id}"))),
            ("kind", text("native")),
            ("position", int(0)),
            ("asset", int(1)),
            ("amount", ColumnValue::Amount(Amount::new(amount))),
            ("amount_raw", text(&amount.to_string())),
            ("from_address", text(&player(name))),
            ("to_address", text(&player("arena custody"))),
            ("purpose", text("player")),
            ("server", text("arena")),
            ("wallet", text(&player(name))),
            ("custody", text("@house/custody/1/hot")),
            ("epoch", int(1)),
            ("block_number", int(7)),
            ("block_hash", text("0x07")),
            ("block_time", int(7)),
            ("tx_index", int(0)),
            ("required_confirmations", int(3)),
            ("needs_agreement", int(0)),
            ("chain_state", text("final")),
            ("review_state", text("none")),
            ("ledger_state", text(state)),
            ("ledger_epoch", int(i64::from(is_booked))),
            ("is_valid_for_server_config", int(i64::from(state == "credited"))),
            ("first_seen_at", int(7)),
            ("updated_at", int(7)),
        ];
        let credited = [("credited_server", text("arena")), ("credited_wallet", text(&player(name)))];
        let set = set.into_iter().chain(credited.into_iter().filter(|_| state == "credited"));
        let fact = Fact {
            row: RowKey { table: "deposits".into(), columns: vec![("id".into(), text(id))] },
            guard: Guard::Absent,
            otherwise: GuardFailure::Conflict,
            set: set.map(|(column, value)| (column.to_owned(), value)).collect(),
        };
        self.apply(
            format!("credit/{id}"),
            Action::Legs(
                is_booked.then_some(Leg::Move { from, to, amount: Amount::new(amount) }).into_iter().collect(),
            ),
            vec![fact],
        );
    }
}
