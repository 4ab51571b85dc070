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

use super::{
    super::{tally::add, wrap::wrapped},
    DemoReport, totals,
};

/// How many players and transactions are listed.
const TOP: usize = 5;

impl DemoReport<'_> {
    pub(super) fn text(&self, audited: &AuditOutcome) -> Result<String, fmt::Error> {
        let mut text = String::new();
        self.write_game(&mut text)?;
        self.write_books(&mut text, audited)?;
        self.write_players(&mut text, audited)?;
        self.write_next(&mut text, audited)?;
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
        let entries = counted(tally.spawns, "entry", "entries");
        let pellets = counted(tally.pellets, "pellet", "pellets");
        let burnt = counted(tally.recycled, "time", "times");
        let exits = counted(tally.exits, "exit", "exits");
        let returns = counted(tally.returns, "player", "players");
        writeln!(text, "  came      {deposits} credited, {entries} into the world")?;
        writeln!(text, "  played    {pellets} of food appeared, mass was burnt {burnt}")?;
        writeln!(text, "  left      {exits}, {}", self.payouts())?;
        writeln!(text, "  stayed    {returns} to the end; their money is on the books, not paid out")?;
        if let Some(earlier) = self.of_earlier_demo() {
            writeln!(text, "  earlier   of the interrupted demo: {earlier}")?;
        }
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

    /// What became of this run's exits.
    fn payouts(&self) -> String {
        let exits = self.played.tally.exits;
        let paid = self.paid().saturating_sub(self.leftovers.payouts).min(exits);
        if self.after.open == 0 && paid == exits {
            return format!("{} on chain", counted(paid, "payout", "payouts"));
        }
        let open = thousands(self.after.open);
        format!("{} on chain, {open} in flight", counted(paid, "payout", "payouts"))
    }

    /// What was credited and paid in this run for players of an interrupted one.
    fn of_earlier_demo(&self) -> Option<String> {
        let deposits = self.credited().saturating_sub(self.played.tally.deposits);
        let payouts = self.paid().min(self.leftovers.payouts);
        let parts: Vec<String> =
            [(deposits, "deposit credited", "deposits credited"), (payouts, "payout made", "payouts made")]
                .into_iter()
                .filter(|(count, ..)| *count > 0)
                .map(|(count, one, many)| counted(count, one, many))
                .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
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
        let mut table = table(&["", "KIND", "ACCOUNTS", symbol, "WHAT IT IS"], &[2, 3]);
        let mut sums = [Amount::ZERO; 2];
        for ((_, kind), total) in &totals(audited) {
            let side = usize::from(kind.side() == Side::Credit);
            add(&mut sums[side], total.balance);
            let side = ["owned", "owed"][side];
            let amount = decimal(total.balance, self.arena.decimals);
            table.add_row([side, kind.as_str(), &thousands(total.accounts), &amount, meaning(*kind)]);
        }
        for (sum, name) in sums.iter().zip(["all owned", "all owed"]) {
            table.add_row(["", name, "", &decimal(*sum, self.arena.decimals), ""]);
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
        writeln!(text, "    chain    {} {symbol} in the wallet, {} wei", money(chain.on_chain), chain.on_chain)?;
        writeln!(text, "    books    {} {symbol} in custody, {} wei", money(chain.in_books), chain.in_books)?;
        let capital = match self.after.since(&self.before).capital {
            0 => String::new(),
            count => format!(", {} of the house's capital", thousands(count)),
        };
        let came = counted(chain.came.count, "payment", "payments");
        let paid = counted(chain.paid.count, "payout", "payouts");
        writeln!(text, "    run in   {came}{capital}: {} {symbol}", money(chain.came.wei))?;
        writeln!(
            text,
            "    run out  {paid}: {} {symbol}, and {} {symbol} for gas",
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
                writeln!(text, "{}", wrapped(&format!("    contradicted by the chain: {what}"), "  "))?;
            }
            for what in chain.foreign.iter().chain(&chain.missing).take(TOP) {
                writeln!(text, "{}", wrapped(&format!("    found on one side only: {what}"), "  "))?;
            }
        }
        Ok(())
    }

    fn write_players(&self, text: &mut String, audited: &AuditOutcome) -> fmt::Result {
        let players = holders(audited);
        let holders = counted(players.len() as u64, "player", "players");
        writeln!(text, "the largest balances of {holders} with money on the books")?;
        for (owner, amount) in players.into_iter().take(TOP) {
            writeln!(text, "  {owner}  {} {}", decimal(amount, self.arena.decimals), self.arena.symbol)?;
        }
        writeln!(text)
    }

    fn write_next(&self, text: &mut String, audited: &AuditOutcome) -> fmt::Result {
        let (me, dir) = (invocation(), self.args.dir.display());
        let in_database = self.args.postgres.is_some();
        let place = if in_database { String::new() } else { format!(" --dir {dir}") };
        let hint = if in_database { " (set BANKROLL__BOOKS__DATABASE to the database)" } else { "" };
        writeln!(text, "{}{hint}", Paint::stdout().strong("try next"))?;
        writeln!(text, "  {me} accounts list{place} --non-zero")?;
        if let Some((wallet, what)) = self.example(audited) {
            writeln!(text, "  {me} explain {wallet}{place}")?;
            writeln!(text, "      {what}")?;
        }
        if in_database {
            return writeln!(text, "  {me} doctor --full");
        }
        let developer = format!("{}/developer/{}", self.arena.server, self.arena.asset);
        writeln!(text, "  {me} accounts show {developer}{place}")?;
        writeln!(text, "  {me} signer show --dir {dir}/signer")?;
        writeln!(text, "      what the signer has signed")?;
        writeln!(text, "  {me} doctor{place} --full")?;
        writeln!(text, "  {me} bench ledger --quick")?;
        writeln!(text, "  {me} demo{place}")?;
        writeln!(text, "      continues; kill -9 it, and start it again")?;
        let size = self.args.dir.join(BOOKS_FILE).metadata().map_or(0, |file| file.len());
        let size = thousands(size.div_ceil(1_000_000));
        writeln!(text, "the books in {dir} take {size} MB; delete the folder when you are done")
    }

    /// A wallet to explain, and what will be seen: best one that was paid.
    fn example(&self, audited: &AuditOutcome) -> Option<(Name, &'static str)> {
        let is_paid = self.after.open == 0 && self.after.since(&self.before).refunded == 0;
        match &self.played.tally.left {
            Some(wallet) if is_paid => Some((wallet.clone(), "a player who paid in, played, left and was paid")),
            _ => {
                let (wallet, _) = *holders(audited).first()?;
                Some((wallet.clone(), "a player who paid in; their money is on the books"))
            }
        }
    }
}

/// The players with money on the books, the largest balances first.
fn holders(audited: &AuditOutcome) -> Vec<(&Name, Amount)> {
    let mut players: BTreeMap<&Name, Amount> = BTreeMap::new();
    for account in &audited.accounts {
        if let (AccountKind::Funds | AccountKind::Unallocated, Some(owner)) = (account.name.kind, &account.name.owner) {
            add(players.entry(owner).or_default(), account.balance);
        }
    }
    let mut players: Vec<_> = players.into_iter().filter(|(_, amount)| !amount.is_zero()).collect();
    players.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
    players
}

/// An account kind in a few words; `docs/glossary.md` has more.
fn meaning(kind: AccountKind) -> &'static str {
    match kind {
        AccountKind::Funds => "players: play or pay out",
        AccountKind::Unallocated => "players: not a buy-in yet",
        AccountKind::World => "in play in the world",
        AccountKind::Ecosystem => "the game's own budget",
        AccountKind::Developer => "the developer's fees",
        AccountKind::House => "the operator's capital",
        AccountKind::Custody => "in our wallet on chain",
        AccountKind::NetworkFees => "gas, paid by the house",
        AccountKind::Debt => "owed to us by players",
        _ => "",
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
