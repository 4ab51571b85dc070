-- What other roles hand over to `books`; see the same migration for Postgres.
CREATE TABLE indexer_events (
  id           TEXT PRIMARY KEY,
  type         TEXT NOT NULL,
  deposit_id   TEXT NOT NULL,
  body         TEXT NOT NULL,
  node         TEXT NOT NULL,
  created_at   INTEGER NOT NULL CHECK (created_at >= 0),
  state        TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'applied', 'refused')),
  reason       TEXT,
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  due_at       INTEGER NOT NULL DEFAULT 0 CHECK (due_at >= 0),
  processed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX indexer_events_new ON indexer_events (created_at, id) WHERE state = 'new';
CREATE INDEX indexer_events_deposit ON indexer_events (deposit_id);
CREATE TRIGGER indexer_events_processed AFTER UPDATE OF state ON indexer_events WHEN OLD.state <> NEW.state
BEGIN
  UPDATE indexer_events SET processed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) WHERE id = NEW.id;
END;
CREATE TABLE payout_events (
  id           TEXT PRIMARY KEY,
  type         TEXT NOT NULL,
  intent_id    TEXT NOT NULL,
  body         TEXT NOT NULL,
  node         TEXT NOT NULL,
  created_at   INTEGER NOT NULL CHECK (created_at >= 0),
  state        TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'applied', 'refused')),
  reason       TEXT,
  tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  due_at       INTEGER NOT NULL DEFAULT 0 CHECK (due_at >= 0),
  processed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX payout_events_new ON payout_events (created_at, id) WHERE state = 'new';
CREATE INDEX payout_events_refused ON payout_events (created_at, id) WHERE state = 'refused';
CREATE INDEX payout_events_intent ON payout_events (intent_id);
CREATE TRIGGER payout_events_processed AFTER UPDATE OF state ON payout_events WHEN OLD.state <> NEW.state
BEGIN
  UPDATE payout_events SET processed_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER) WHERE id = NEW.id;
END;
