//! A connection to Postgres, used from one thread.
//!
//! A session for reading may reconnect automatically: when the server was restarted or replaced, the query runs again
//! over a new connection, and its caller does not notice. Not within a snapshot, which is lost then; its caller
//! starts again. A session for writing never does: the outcome of its transaction must be resolved first.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream::poll_fn};
use tokio::runtime::Runtime;
use tokio_postgres::{
    AsyncMessage, Client, Config, NoTls, Row, Socket, Statement, error::Severity, tls::MakeTlsConnect, types::ToSql,
};

use super::{connection_config::ConnectionConfig, is_transient, tls};
use crate::StoreError;

/// The values of one statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(crate) struct Session {
    runtime: Runtime,
    client: RefCell<Arc<Client>>,
    statements: RefCell<HashMap<String, Statement>>,
    /// Whether the server has sent a warning since this was last taken.
    warned: Arc<AtomicBool>,
    address: ConnectionConfig,
    reconnects: bool,
    in_snapshot: Cell<bool>,
}

impl Session {
    /// Connects to the primary among the hosts and checks that its settings make commits durable.
    pub fn connect(address: ConnectionConfig) -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::io("the connection to Postgres"))?;
        let warned = Arc::new(AtomicBool::new(false));
        let client = RefCell::new(Arc::new(open(&runtime, &address, &warned)?));
        let (statements, in_snapshot) = (RefCell::default(), Cell::new(false));
        let session = Self { runtime, client, statements, warned, address, reconnects: false, in_snapshot };
        session.check_settings()?;
        Ok(session)
    }

    /// The same session, reconnecting whenever it is lost.
    pub fn auto_reconnecting(self) -> Self {
        Self { reconnects: true, ..self }
    }

    pub(super) fn client(&self) -> Arc<Client> {
        Arc::clone(&self.client.borrow())
    }

    /// Runs `ask`, and again over a new connection if the old one is lost.
    fn with_reconnect<T>(&self, ask: impl Fn() -> Result<T, tokio_postgres::Error>) -> Result<T, StoreError> {
        match ask() {
            Err(error) if self.reconnects && !self.in_snapshot.get() && (self.is_lost() || is_transient(&error)) => {
                self.reconnect()?;
                Ok(ask()?)
            }
            answered => Ok(answered?),
        }
    }

    fn reconnect(&self) -> Result<(), StoreError> {
        self.client.replace(Arc::new(open(&self.runtime, &self.address, &self.warned)?));
        self.statements.borrow_mut().clear();
        self.check_settings()
    }

    /// From here on every query sees one snapshot.
    pub fn begin_snapshot(&self) -> Result<(), StoreError> {
        self.with_reconnect(|| self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))?;
        self.in_snapshot.set(true);
        Ok(())
    }

    pub fn end_snapshot(&self) -> Result<(), StoreError> {
        self.in_snapshot.set(false);
        Ok(self.run("COMMIT")?)
    }

    /// Lets the server end a transaction that is idle for this long: a writer that was suspended in the middle of one
    /// must not block the next.
    pub fn limit_idle_transactions(&self, limit: Duration) -> Result<(), tokio_postgres::Error> {
        self.run(&format!("SET idle_in_transaction_session_timeout = {}", milliseconds(limit)))
    }

    /// Another connection to the same place.
    pub fn connect_again(&self) -> Result<Self, StoreError> {
        Self::connect(self.address.clone())
    }

    pub fn is_lost(&self) -> bool {
        self.client.borrow().is_closed()
    }

    /// Whether the server has sent a warning since the last call.
    pub fn take_warning(&self) -> bool {
        self.warned.swap(false, Ordering::SeqCst)
    }

    fn check_settings(&self) -> Result<(), StoreError> {
        self.expect("fsync", |found| found == "on", "on")?;
        self.expect("full_page_writes", |found| found == "on", "on")?;
        self.check_synchronous_commit()?;
        // In any other encoding, a name or an event may have characters that cannot be stored, and would stop the
        // writer.
        self.expect("server_encoding", |found| found == "UTF8", "UTF8")?;
        self.expect(
            "server_version_num",
            |found| found.parse().is_ok_and(|number: u32| number >= 150_000),
            "15 or newer",
        )
    }

    /// A commit counts once it cannot be lost any more. Without a named standby that is this server's disk, and
    /// everything but `off` waits for it. With one, an administrator may promote the standby, so the commit must be on
    /// the standby's disk too: `local` does not wait for the standby at all, and `remote_write` waits for its memory
    /// alone, which a power cut of both machines empties before the standby is promoted.
    fn check_synchronous_commit(&self) -> Result<(), StoreError> {
        let setting = "synchronous_commit";
        let standbys: String = self.try_one("SELECT current_setting('synchronous_standby_names')", &[])?.get(0);
        if standbys.trim().is_empty() {
            return self.expect(setting, |found| found != "off", "on (ALTER DATABASE ... SET synchronous_commit = on)");
        }
        self.expect(
            setting,
            |found| ["on", "remote_apply"].contains(&found),
            "on or remote_apply, since synchronous_standby_names names a standby (ALTER DATABASE ... SET \
             synchronous_commit = on)",
        )
    }

    fn expect(
        &self,
        setting: &'static str,
        is_safe: impl Fn(&str) -> bool,
        wanted: &'static str,
    ) -> Result<(), StoreError> {
        let row = self.try_one("SELECT current_setting($1)", &[&setting])?;
        let found: String = row.get(0);
        if is_safe(&found) { Ok(()) } else { Err(StoreError::Setting { setting, found, wanted }) }
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// The statement, prepared once.
    pub fn prepared(&self, sql: &str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.wait(self.client().prepare(sql))?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub fn query(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, StoreError> {
        self.with_reconnect(|| {
            let statement = self.prepared(sql)?;
            self.wait(self.client().query(&statement, values))
        })
    }

    pub fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, StoreError> {
        self.with_reconnect(|| self.try_one(sql, values))
    }

    fn try_one(&self, sql: &str, values: Values<'_>) -> Result<Row, tokio_postgres::Error> {
        let statement = self.prepared(sql)?;
        self.wait(self.client().query_one(&statement, values))
    }

    pub fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, tokio_postgres::Error> {
        let statement = self.prepared(sql)?;
        self.wait(self.client().execute(&statement, values))
    }

    pub fn run(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.wait(self.client().batch_execute(sql))
    }
}

/// A duration for the server's settings: at least one, since zero means no limit, and at most what they accept.
pub(super) fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1)
}

fn open(runtime: &Runtime, address: &ConnectionConfig, warned: &Arc<AtomicBool>) -> Result<Client, StoreError> {
    let (config, warned) = (&address.config, Arc::clone(warned));
    Ok(match tls::connector(address)? {
        Some(tls) => runtime.block_on(connect(config, tls, warned)),
        None => runtime.block_on(connect(config, NoTls, warned)),
    }?)
}

async fn connect<T>(config: &Config, tls: T, warned: Arc<AtomicBool>) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket, Stream: Send + 'static>,
{
    let (client, mut connection) = config.connect(tls).await?;
    tokio::spawn(async move {
        let mut messages = poll_fn(move |context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notice(notice) = message
                // The severity's text is in the server's language.
                && notice.parsed_severity() == Some(Severity::Warning)
            {
                warned.store(true, Ordering::SeqCst);
            }
        }
    });
    Ok(client)
}
