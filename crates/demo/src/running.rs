//! A demo from its start to its report.

use std::{sync::Arc, thread, time::Instant};

use anyhow::Context;
use bankroll_roles::{audit, flows::StopFlag};
use bankroll_store::{LeaseHolder, Ledger, Location, Reader};
use bankroll_terminal::{Exit, StopSignal, counted};

use super::{
    DemoArgs,
    arena::Arena,
    arrivals::Arrivals,
    context::GameContext,
    database,
    environment::Environment,
    folder,
    funds::{ArenaKeys, ArenaSession, GameClient},
    game,
    leftovers::Leftovers,
    play::{self, Played},
    progress::DemoProgress,
    report::DemoReport,
    service::DemoService,
    settings::DemoSettings,
    stay, tempo,
    view::DemoView,
};

/// How many looks without a change make [`tempo::CHECK_EVERY`].
const LOOKS_PER_CHECK: u32 = 50;
const COMPARING: &str = "the arena is closed; recomputing the books and comparing them with the chain";

pub struct RunningDemo {
    location: Location,
    arena: Arena,
    view: DemoView,
    environment: Environment,
    service: DemoService,
    session: Arc<ArenaSession>,
    arrivals: Arrivals,
    /// Requested when the game cannot continue.
    over: StopFlag,
    leftovers: Leftovers,
    before: DemoProgress,
    call_max: usize,
}

impl RunningDemo {
    /// Prepares the books, starts everything around them and the service, registers the game server, and returns what
    /// an interrupted demo left.
    pub fn start(args: &DemoArgs, json: bool) -> anyhow::Result<Self> {
        let settings = DemoSettings::load(args)?;
        let location = args.location();
        if let Location::Postgres(url) = &location {
            database::refuse_real_books(url)?;
        }
        // Last: a demo that cannot start leaves no folder.
        folder::prepare(&args.dir, args.fresh)?;
        let books = &settings.loaded.config.books;
        books.warn_if_lossy();
        let ledger = Ledger::open_or_create_in_turn(books.options(location.clone()), note_wait)
            .context("cannot open the demo's books")?;
        let reader = Reader::open(&location)?;
        let arena = Arena::open(&ledger, &reader)?;
        let keys = ArenaKeys::open(&args.dir, &ledger, &reader)?;
        let mut view = DemoView::new(args, json, &arena, reader);
        let (mut leftovers, before) = (Leftovers::read(&view.reader, &arena)?, DemoProgress::read(&view.reader)?);
        let mut environment = Environment::open(args, &location, &arena, &view.reader)?;
        // Everything is prepared; from now on the service holds the books.
        ledger.close();
        let (names, note, call_max) = (settings.names(), settings.note.clone(), play::call_max(books.queue_max));
        let service = DemoService::start(args, settings, &location, &mut environment)?;
        let over = StopFlag::default();
        let session = ArenaSession::open(service.url(), names, keys, &arena, environment.signer.wallet, &over)?;
        let session = Arc::new(session);
        let client = || GameClient::new(&session, &over);
        leftovers.return_stakes(&view.reader, &arena, &client(), &arena.run.to_string())?;
        view.begin(&leftovers, before);
        note.iter().for_each(|note| view.note(note));
        let arrivals = Arrivals::open(&environment.wallets.arrivals(), client);
        Ok(Self { location, arena, view, environment, service, session, arrivals, over, leftovers, before, call_max })
    }

    /// Plays until the time is over, Ctrl-C, or a failure.
    pub fn play(&mut self, args: &DemoArgs, stop_signal: &StopSignal) -> anyhow::Result<Played> {
        let Self { arena, view, environment, service, session, over, call_max, .. } = self;
        let context = GameContext { service, session, environment, over };
        let games = game::open_games(arena, &environment.wallets, &args.people())?;
        let brought = environment.bring_capital(&view.reader, arena);
        context.notes().iter().for_each(|note| view.note(note));
        brought?;
        play::run(&context, games, *call_max, args.length(), stop_signal, view)
    }

    /// Waits until every deposit is credited and every payout is settled, while there is progress.
    pub fn come_to_rest(&mut self, played: &Played) -> anyhow::Result<DemoProgress> {
        let Self { view, environment, service, session, over, .. } = self;
        let context = GameContext { service, session, environment, over };
        let (mut last, mut still, begun) = (DemoProgress::default(), 0, Instant::now());
        loop {
            // The database may be unreachable for a moment.
            let now = DemoProgress::read(&view.reader).unwrap_or(last);
            // Counted in checks, not by the clock: a suspended machine makes no progress either.
            still = if now == last { still + 1 } else { 0 };
            if now.is_at_rest() || still > tempo::STILL_LOOKS {
                return Ok(now);
            }
            last = now;
            if still > 0 && still.is_multiple_of(LOOKS_PER_CHECK) {
                context.check()?;
            }
            view.show(&context, &played.tally, played.took + begun.elapsed());
            thread::sleep(tempo::LOOK_EVERY);
        }
    }

    /// Stops everything, then reports.
    pub fn end(self, args: &DemoArgs, json: bool, played: Played, after: DemoProgress) -> anyhow::Result<Exit> {
        let Self { location, arena, view, environment, service, arrivals, leftovers, before, .. } = self;
        arrivals.stop();
        let signed_in = environment.wallets.signed_in();
        let ended_early = service.stop()?;
        // In JSON they are part of the report.
        ended_early.iter().filter(|_| !json).for_each(|ended| view.note(ended));
        if !json {
            view.note(COMPARING);
        }
        let reconciled = environment.reconcile(&view.reader)?;
        // This closes the view's reader, too: the last connection removes the write-ahead log.
        view.end();
        environment.stop()?;
        let audited = audit::run(&location, json);
        let (args, arena) = (args, &arena);
        let report =
            DemoReport { args, arena, leftovers, signed_in, played, before, after, ended_early, reconciled, audited };
        report.print(json)
    }

    /// Reports while the service is up.
    pub fn report(&self, args: &DemoArgs, played: Played, after: DemoProgress) -> anyhow::Result<Exit> {
        let Self { arena, view, environment, leftovers, before, .. } = self;
        view.note(COMPARING);
        let reconciled = environment.reconcile(&view.reader)?;
        view.clear();
        let audited = audit::run(&self.location, false);
        let report = DemoReport {
            args,
            arena,
            leftovers: *leftovers,
            signed_in: environment.wallets.signed_in(),
            played,
            before: *before,
            after,
            ended_early: Vec::new(),
            reconciled,
            audited,
        };
        report.print(false)
    }

    /// Leaves the service up until Ctrl-C, then stops everything.
    pub fn stay(self, args: &DemoArgs, stop_signal: &StopSignal) -> anyhow::Result<()> {
        let Self { arena, view, environment, service, session, arrivals, over, .. } = self;
        arrivals.stop();
        let context = GameContext { service: &service, session: &session, environment: &environment, over: &over };
        let stayed = stay::until_stopped(&context, &view.reader, args, &arena, stop_signal);
        stay::empty_world(&context, &view.reader, &arena);
        // The last connection removes the write-ahead log.
        drop(view);
        let stopped = service.stop().map(drop).and(environment.stop());
        stayed.and(stopped)
    }

    /// The game failed: stops the service, so that what is in flight is answered and the books are released.
    pub fn fail(self, error: anyhow::Error) -> anyhow::Error {
        self.over.request();
        self.arrivals.stop();
        // If that fails, too, the first failure is the one to report.
        let _ = self.service.stop();
        error
    }
}

/// An earlier demo, or a node of it, was killed: its lease ends by itself.
fn note_wait(holder: &LeaseHolder) {
    let seconds = holder.left.as_secs() + 1;
    eprintln!(
        "note: the books are leased to {} for {} more; waiting until the lease is over",
        holder.name,
        counted(seconds, "second", "seconds")
    );
}
