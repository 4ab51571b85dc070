-- Places in servers' worlds, and the deposits that paid for them; see the same migration for Postgres.
CREATE TABLE spawns (
  id             TEXT PRIMARY KEY,
  server         TEXT NOT NULL,
  request_key    TEXT NOT NULL,
  wallet         TEXT NOT NULL,
  asset          INTEGER NOT NULL,
  amount         AMOUNT NOT NULL,
  mass           AMOUNT NOT NULL,
  mass_decimals  INTEGER NOT NULL,
  deposit        TEXT,
  config_version INTEGER NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('reserved', 'committed', 'released', 'refunded', 'expired', 'exited')),
  reserved_at    INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  hold           INTEGER,
  UNIQUE (server, request_key)
) WITHOUT ROWID;
CREATE INDEX spawns_live ON spawns (server, id) WHERE status = 'committed';
CREATE INDEX spawns_player ON spawns (server, wallet);
CREATE TABLE deposit_consumptions (
  server  TEXT NOT NULL,
  deposit TEXT NOT NULL,
  wallet  TEXT NOT NULL,
  spawn   TEXT NOT NULL,
  status  TEXT NOT NULL CHECK (status IN ('reserved', 'consumed', 'released')),
  PRIMARY KEY (server, deposit)
) STRICT, WITHOUT ROWID;
