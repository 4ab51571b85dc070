//! What no header vouches for: tokens that people pay with, coins that contracts move, nodes that lie about both, and
//! rows that somebody edits.

use bankroll_chains_simulated::{
    Distortion, NodeLie, Payment, U256,
    contracts::{DOLLAR, SCRIPT, SPLITTER, ScriptStep, TAXED, mint_call, script_call, split_call, transfer_call},
};
use bankroll_ledger::ColumnValue;
use bankroll_store::{
    Reader,
    columns::{one, text, text_of},
};
use fastrand::Rng;

use super::{
    people::{ALICE, BOB, CAROL, CHAIN_ID, OTHERS, STRANGER},
    promises::{BrokenPromise, SafetyPromise},
    world::{NODES, World},
};

/// Who has tokens.
const HOLDERS: [u64; 4] = [ALICE, BOB, CAROL, STRANGER];
/// What each token payment is: the token that keeps a tenth delivers 900 of it.
const TOKENS: u64 = 1_000;

impl World {
    /// Everybody gets tokens, before any fault.
    pub fn mint_tokens(&mut self) {
        for (token, holder) in [DOLLAR, TAXED].into_iter().flat_map(|token| HOLDERS.map(|holder| (token, holder))) {
            let input = mint_call(self.people.address(holder).0.into(), U256::from(1_000_000_000_u64));
            let nonce = self.next_nonce(OTHERS);
            self.send(OTHERS, Payment::new(CHAIN_ID, nonce, token, U256::ZERO).calling(input));
        }
    }

    /// A payment by a contract or in a token.
    pub fn pay_oddly(&mut self, random: &mut Rng) {
        let person = *random.choice(&HOLDERS).expect("a person");
        let (hot, carols) = (self.people.hot.0.into(), self.people.carols.0.into());
        let to = if random.bool() { hot } else { carols };
        let (value, nonce) = (random.u64(1..20_000_000_000_000_000), self.next_nonce(person));
        let call = |contract, value: u64| Payment::new(CHAIN_ID, nonce, contract, U256::from(value));
        let tokens = transfer_call(to, U256::from(TOKENS));
        let payment = match random.u8(..6) {
            0 | 1 => call(DOLLAR, 0).calling(tokens),
            2 | 3 => call(TAXED, 0).calling(tokens),
            4 => call(SPLITTER, value).calling(split_call(&[hot, [0x62; 20].into(), carols, hot])),
            _ => {
                // What a frame moved that was undone is nobody's.
                let send = ScriptStep::Send { to, value: U256::from(value) };
                let undone = ScriptStep::Try { steps: vec![send.clone(), ScriptStep::Revert] };
                call(SCRIPT, value).calling(script_call(&[undone, send]))
            }
        };
        self.send(person, payment);
        self.note(format_args!("person {person} pays in a token, or by a contract"));
    }

    /// A node lies about what no header vouches for, while the scanner reads a block where that matters.
    pub fn lie(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let (node, to) = (random.usize(..NODES), self.people.hot.0.into());
        let (value, some) = (U256::from(random.u64(1..20_000_000_000_000_000)), U256::from(TOKENS / 10));
        let by = *random.choice(&[Distortion::Minus(some), Distortion::Plus(some)]).expect("a lie");
        let invented =
            [NodeLie::TransferInvented { to, value }, NodeLie::Balance { of: Some(to), by: Distortion::Minus(value) }];
        let (lies, kind) = match random.bool() {
            true => (invented.to_vec(), "node: invents a transfer"),
            false => (vec![NodeLie::TokenBalance { of: None, by }], "node: wrong balance of a token"),
        };
        self.pay_oddly(random);
        self.mine_one();
        let given = |world: &Self| world.chain().lies_told().values().sum::<u64>();
        let before = given(self);
        lies.iter().for_each(|lie| self.chain().lie_from(node, lie.clone(), 1));
        let scanned = self.scan_with(node, self.now);
        lies.iter().for_each(|lie| self.chain().lie_from(node, lie.clone(), 0));
        if given(self) > before {
            self.counts.count(kind);
        }
        scanned.map(drop)
    }

    /// Somebody edits a column of a deposit that is booked: the audit names it, and it moves no money.
    pub fn edit_row(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        // Faults are for the roles.
        self.books.begin_step("somebody");
        let edited = self.edit_booked(random);
        self.books.begin_step("scanner");
        edited
    }

    fn edit_booked(&mut self, random: &mut Rng) -> Result<(), BrokenPromise> {
        let broken = |error: &dyn std::fmt::Display| SafetyPromise::EditsNoticed.broken(error.to_string());
        let sql = "SELECT * FROM deposits WHERE ledger_state IN ('credited', 'suspense') AND chain_state = 'final'
                   ORDER BY id";
        let rows = self.books.rows().read(sql, Vec::new()).map_err(|error| broken(&error))?;
        let Some(row) = random.choice(&rows) else { return self.note_ok("no deposit to edit") };
        let columns = ["amount_raw", "to_address", "from_address", "custody", "block_hash", "wallet", "tx_hash"];
        let column = *random.choice(&columns).expect("a column");
        let id = text_of(row, "id").map_err(|error| broken(&error))?;
        let set = |value: ColumnValue| {
            let sql = format!("UPDATE deposits SET {column} = $1 WHERE id = $2");
            self.books.rows().write(vec![one(&sql, vec![value, text(id)])])
        };
        set(text("7")).map_err(|error| broken(&error))?;
        let reader = Reader::open(self.books.ledger().location()).map_err(|error| broken(&error))?;
        let is_noticed = bankroll_deposits::audit::run(&reader).is_err();
        let before = self.books.rows().reader().head().map(|head| head.seq).map_err(|error| broken(&error))?;
        let due = self.credit_with_reversals_only();
        let after = self.books.rows().reader().head().map(|head| head.seq).map_err(|error| broken(&error))?;
        set(row.get(column).cloned().unwrap_or(ColumnValue::Null)).map_err(|error| broken(&error))?;
        if !is_noticed {
            return Err(broken(&format!("nobody notices that {column} of {id} was edited")));
        }
        if !due && after != before {
            return Err(broken(&format!("an edit of {column} of {id} moved money")));
        }
        self.counts.count("rows: a deposit edited");
        self.note_ok(format_args!("{column} of {id} is edited, noticed, and put right"))
    }

    /// Whether a reversal was due anyway; books what reversals there are.
    fn credit_with_reversals_only(&self) -> bool {
        let (ledger, rows) = (self.books.ledger(), self.books.rows());
        let Ok(prepared) = bankroll_deposits::crediting::prepare_reversals(rows, 50) else { return true };
        let due = !prepared.requests.is_empty();
        let _ = bankroll_deposits::crediting::submit(prepared, ledger, rows);
        due
    }
}
