//! The report in words.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use bankroll_chains_evm::U256;
use bankroll_ledger::{Amount, Kind, Name, Side};
use bankroll_roles::audit::Audited;
use bankroll_store::BOOKS_FILE;
use bankroll_terminal::{Paint, decimal, invocation, per_second, table, thousands};

use super::{super::tally::add, Report, totals};

/// How many players are named.
const TOP: usize = 5;

impl Report<'_> {
    pub(super) fn told(&self, audited: &Audited) -> Result<String, fmt::Error> {
        let mut text = String::new();
        self.tell_game(&mut text)?;
        self.tell_books(&mut text, audited)?;
        self.tell_players(&mut text, audited)?;
        self.tell_next(&mut text)?;
        Ok(text)
    }

    fn tell_game(&self, text: &mut String) -> fmt::Result {
        let (paint, tally, took) = (Paint::stdout(), &self.played.tally, self.played.took);
        let rate = thousands(per_second(tally.transfers, took));
        let (players, transfers) = (thousands(tally.players()), thousands(tally.transfers));
        writeln!(
            text,
            "{players} players, {transfers} transfers in {:.1} s: {}",
            took.as_secs_f64(),
            paint.strong(&format!("{rate} a second"))
        )?;
        writeln!(text, "each synced to disk before it was answered")?;
        let [deposits, spawns, pellets] = [tally.deposits, tally.spawns, tally.pellets].map(thousands);
        let [recycled, exits, payouts] = [tally.recycled, tally.exits, self.paid()].map(thousands);
        let returns = thousands(tally.returns);
        writeln!(text, "  came      {deposits} deposits on the chain, {spawns} spawns")?;
        writeln!(text, "  played    {pellets} pellets, {recycled} times mass recycled")?;
        writeln!(
            text,
            "  left      {exits} exits, {payouts} paid on the chain, {returns} sent home when the arena closed"
        )?;
        let refused: Vec<String> =
            tally.rejected.iter().map(|(code, count)| format!("{code} {}", thousands(*count))).collect();
        writeln!(text, "  refused   {}", if refused.is_empty() { "nothing".into() } else { refused.join(", ") })?;
        writeln!(
            text,
            "  replayed  {}: the same key again, the same answer, nothing moved twice",
            thousands(tally.replayed)
        )?;
        if tally.busy > 0 {
            writeln!(text, "  busy      {} calls found the queue full and were made again", thousands(tally.busy))?;
        }
        writeln!(text)
    }

    fn tell_books(&self, text: &mut String, audited: &Audited) -> fmt::Result {
        let (report, symbol) = (&audited.report, &self.arena.symbol);
        let (rows, rate) = (thousands(report.rows), thousands(audited.rows_per_s()));
        writeln!(text, "the books, computed again from the journal: {rows} records, {rate} a second")?;
        mark(text, true, "books balance to the wei")?;
        if self.world_is_empty(audited) {
            mark(text, true, "the world is empty: all that entered it has left it")?;
        } else {
            mark(text, false, "the world is not empty: some of what entered it is still there")?;
        }
        let headline = self.finding().headline(|wei| format!("{} {symbol}", self.money(wei)));
        mark(text, self.adds_up(), &headline)?;
        self.tell_chain(text)?;
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

    /// What the chain has, and what the books say.
    fn tell_chain(&self, text: &mut String) -> fmt::Result {
        let chain = &self.reconciled;
        let money = |wei: U256| self.money(wei);
        let symbol = &self.arena.symbol;
        writeln!(text, "    chain  {} {symbol} in the wallet, {} wei", money(chain.on_chain), chain.on_chain)?;
        writeln!(text, "    books  {} {symbol} in custody, {} wei", money(chain.in_books), chain.in_books)?;
        let [came, paid] = [chain.came.count, chain.paid.count].map(thousands);
        writeln!(
            text,
            "    run    {came} payments came with {} {symbol}, {paid} payouts left with {}, gas did cost {}",
            money(chain.came.wei),
            money(chain.paid.wei),
            money(chain.fees)
        )?;
        if !self.adds_up() {
            writeln!(text, "    difference  {} wei", chain.difference())?;
            let open = [
                ("deposits to be credited", self.after.confirming + self.after.due),
                ("payouts to be paid", self.after.open),
            ];
            for (what, count) in open.into_iter().filter(|(_, count)| *count > 0) {
                writeln!(text, "    in flight: {} {what}", thousands(count))?;
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

    fn tell_players(&self, text: &mut String, audited: &Audited) -> fmt::Result {
        let mut players: BTreeMap<&Name, Amount> = BTreeMap::new();
        for account in &audited.accounts {
            if let (Kind::Funds | Kind::Unallocated, Some(owner)) = (account.name.kind, &account.name.owner) {
                add(players.entry(owner).or_default(), account.balance);
            }
        }
        let mut players: Vec<_> = players.into_iter().filter(|(_, amount)| !amount.is_zero()).collect();
        players.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
        writeln!(text, "the richest of {} players with money on the books", thousands(players.len() as u64))?;
        for (owner, amount) in players.into_iter().take(TOP) {
            writeln!(text, "  {owner}  {} {}", decimal(amount, self.arena.decimals), self.arena.symbol)?;
        }
        writeln!(text)
    }

    fn tell_next(&self, text: &mut String) -> fmt::Result {
        let (me, dir) = (invocation(), self.args.dir.display());
        if self.args.postgres.is_some() {
            writeln!(
                text,
                "{} (name the database: BANKROLL__BOOKS__DATABASE=...)",
                Paint::stdout().strong("try next")
            )?;
            writeln!(text, "  {me} accounts list --non-zero")?;
            writeln!(text, "  {me} doctor --full")?;
            return writeln!(text, "  {me} explain 0x...    a wallet of the list above");
        }
        let developer = format!("{}/developer/{}", self.arena.server, self.arena.asset);
        writeln!(text, "{}", Paint::stdout().strong("try next"))?;
        writeln!(text, "  {me} accounts list --dir {dir} --non-zero")?;
        writeln!(text, "  {me} accounts show {developer} --dir {dir}")?;
        writeln!(text, "  {me} explain 0x... --dir {dir}    a wallet of the list above: paid in, played, paid out")?;
        writeln!(text, "  {me} signer show --dir {dir}/signer    what it has signed")?;
        writeln!(text, "  {me} doctor --dir {dir} --full")?;
        writeln!(text, "  {me} bench ledger --quick")?;
        writeln!(text, "  {me} demo --dir {dir}    plays on; kill -9 it, and start it again")?;
        let size = self.args.dir.join(BOOKS_FILE).metadata().map_or(0, |file| file.len());
        writeln!(text, "the books in {dir} take {} MB; nothing else needs them", thousands(size / 1_000_000))
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
