//! The report as text.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use bankroll_chains_evm::U256;
use bankroll_ledger::{AccountKind, Amount, Name, Side};
use bankroll_roles::audit::AuditOutcome;
use bankroll_store::BOOKS_FILE;
use bankroll_terminal::{Paint, counted, decimal, invocation, per_second, table, thousands};

use super::{super::tally::add, DemoReport, totals};

/// How many players and transactions are listed.
const TOP: usize = 5;

impl DemoReport<'_> {
    pub(super) fn text(&self, audited: &AuditOutcome) -> Result<String, fmt::Error> {
        let mut text = String::new();
        self.write_game(&mut text)?;
        self.write_books(&mut text, audited)?;
        self.write_players(&mut text, audited)?;
        self.write_next(&mut text)?;
        Ok(text)
    }

    fn write_game(&self, text: &mut String) -> fmt::Result {
        let (paint, tally, took) = (Paint::stdout(), &self.played.tally, self.played.took);
        let rate = thousands(per_second(tally.transfers, took));
        let players = counted(tally.players(), "player", "players");
        let transfers = counted(tally.transfers, "transfer", "transfers");
        writeln!(
            text,
            "{players}, {transfers} in {:.1} s: {}",
            took.as_secs_f64(),
            paint.strong(&format!("{rate} a second"))
        )?;
        writeln!(text, "each was synced to disk before it was answered")?;
        let deposits = counted(tally.deposits, "deposit", "deposits");
        let spawns = counted(tally.spawns, "spawn", "spawns");
        let pellets = counted(tally.pellets, "pellet", "pellets");
        let recycled = counted(tally.recycled, "time", "times");
        let exits = counted(tally.exits, "exit", "exits");
        let paid = counted(self.paid(), "payout", "payouts");
        let returns = counted(tally.returns, "player", "players");
        writeln!(text, "  came      {deposits} on chain, {spawns}")?;
        writeln!(text, "  played    {pellets}, mass recycled {recycled}")?;
        writeln!(text, "  left      {exits}, {paid} on chain; {returns} kept their money on the books at the close")?;
        let refused: Vec<String> =
            tally.rejected.iter().map(|(code, count)| format!("{code} {}", thousands(*count))).collect();
        writeln!(text, "  refused   {}", if refused.is_empty() { "nothing".into() } else { refused.join(", ") })?;
        writeln!(text, "  replayed  {}: same key, same answer, nothing moved twice", thousands(tally.replayed))?;
        if tally.busy > 0 {
            let calls = counted(tally.busy, "call", "calls");
            writeln!(text, "  busy      {calls} found the queue full and had to be repeated")?;
        }
        writeln!(text)
    }

    fn write_books(&self, text: &mut String, audited: &AuditOutcome) -> fmt::Result {
        let (report, symbol) = (&audited.report, &self.arena.symbol);
        let (records, rate) = (counted(report.rows, "record", "records"), thousands(audited.rows_per_s()));
        writeln!(text, "the books, recomputed from the journal: {records}, {rate} a second")?;
        mark(text, true, "books balance to the wei")?;
        let is_empty = self.world_is_empty(audited);
        let world = if is_empty {
            "the world is empty: all money that entered it has left it"
        } else {
            "the world is not empty"
        };
        mark(text, is_empty, world)?;
        let headline = self.finding().headline(|wei| format!("{} {symbol}", self.money(wei)));
        mark(text, self.adds_up(), &headline)?;
        self.write_chain(text)?;
        let mut table = table(&["", "KIND", "ACCOUNTS", symbol, "WEI"], &[2, 3, 4]);
        let mut sums = [Amount::ZERO; 2];
        for ((_, kind), total) in &totals(audited) {
            let side = usize::from(kind.side() == Side::Credit);
            add(&mut sums[side], total.balance);
            let side = ["owned", "owed"][side];
            let amount = decimal(total.balance, self.arena.decimals);
            table.add_row([side, kind.as_str(), &thousands(total.accounts), &amount, &total.balance.to_string()]);
        }
        for (sum, name) in sums.iter().zip(["all owned", "all owed"]) {
            table.add_row(["", name, "", &decimal(*sum, self.arena.decimals), &sum.to_string()]);
        }
        writeln!(text, "{}\n", indented(&table.trim_fmt()))
    }

    fn money(&self, wei: U256) -> String {
        u128::try_from(wei).map_or_else(|_| wei.to_string(), |wei| decimal(Amount::new(wei), self.arena.decimals))
    }

    /// The chain's figures, then those of the books.
    fn write_chain(&self, text: &mut String) -> fmt::Result {
        let chain = &self.reconciled;
        let money = |wei: U256| self.money(wei);
        let symbol = &self.arena.symbol;
        writeln!(text, "    chain  {} {symbol} in the wallet, {} wei", money(chain.on_chain), chain.on_chain)?;
        writeln!(text, "    books  {} {symbol} in custody, {} wei", money(chain.in_books), chain.in_books)?;
        let came = counted(chain.came.count, "payment", "payments");
        let paid = counted(chain.paid.count, "payout", "payouts");
        writeln!(
            text,
            "    run    {came} brought {} {symbol}, {paid} took {}, gas cost {} {symbol}",
            money(chain.came.wei),
            money(chain.paid.wei),
            money(chain.fees)
        )?;
        if !self.adds_up() {
            writeln!(text, "    difference  {} wei", chain.difference())?;
            let open = [
                (self.after.confirming + self.after.due, "deposit", "deposits"),
                (self.after.open, "payout", "payouts"),
            ];
            for (count, one, many) in open.into_iter().filter(|(count, ..)| *count > 0) {
                writeln!(text, "    in flight: {}", counted(count, one, many))?;
            }
            for what in chain.contradicted.iter().take(TOP) {
                writeln!(text, "    contradicted by the chain: {what}")?;
            }
            for what in chain.foreign.iter().chain(&chain.missing).take(TOP) {
                writeln!(text, "    found on one side only: {what}")?;
            }
        }
        Ok(())
    }

    fn write_players(&self, text: &mut String, audited: &AuditOutcome) -> fmt::Result {
        let mut players: BTreeMap<&Name, Amount> = BTreeMap::new();
        for account in &audited.accounts {
            if let (AccountKind::Funds | AccountKind::Unallocated, Some(owner)) =
                (account.name.kind, &account.name.owner)
            {
                add(players.entry(owner).or_default(), account.balance);
            }
        }
        let mut players: Vec<_> = players.into_iter().filter(|(_, amount)| !amount.is_zero()).collect();
        players.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
        let holders = counted(players.len() as u64, "player", "players");
        writeln!(text, "the largest balances of {holders} with money on the books")?;
        for (owner, amount) in players.into_iter().take(TOP) {
            writeln!(text, "  {owner}  {} {}", decimal(amount, self.arena.decimals), self.arena.symbol)?;
        }
        writeln!(text)
    }

    fn write_next(&self, text: &mut String) -> fmt::Result {
        let (me, dir) = (invocation(), self.args.dir.display());
        if self.args.postgres.is_some() {
            writeln!(text, "{} (set BANKROLL__BOOKS__DATABASE to the database)", Paint::stdout().strong("try next"))?;
            writeln!(text, "  {me} accounts list --non-zero")?;
            writeln!(text, "  {me} doctor --full")?;
            return writeln!(text, "  {me} explain 0x...    a wallet from the list above");
        }
        let developer = format!("{}/developer/{}", self.arena.server, self.arena.asset);
        writeln!(text, "{}", Paint::stdout().strong("try next"))?;
        writeln!(text, "  {me} accounts list --dir {dir} --non-zero")?;
        writeln!(text, "  {me} accounts show {developer} --dir {dir}")?;
        writeln!(text, "  {me} explain 0x... --dir {dir}    a wallet from the list above")?;
        writeln!(text, "  {me} signer show --dir {dir}/signer    what the signer has signed")?;
        writeln!(text, "  {me} doctor --dir {dir} --full")?;
        writeln!(text, "  {me} bench ledger --quick")?;
        writeln!(text, "  {me} demo --dir {dir}    continues; kill -9 it, and start it again")?;
        let size = self.args.dir.join(BOOKS_FILE).metadata().map_or(0, |file| file.len());
        writeln!(
            text,
            "the books in {dir} take {} MB; delete the folder when you are done",
            thousands(size / 1_000_000)
        )
    }
}

fn mark(text: &mut String, good: bool, what: &str) -> fmt::Result {
    let paint = Paint::stdout();
    let sign = if good { paint.good("✓") } else { paint.bad("✗") };
    writeln!(text, "  {sign} {}", if good { paint.good(what) } else { paint.bad(what) })
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n")
}
