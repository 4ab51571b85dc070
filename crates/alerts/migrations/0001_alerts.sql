-- Alerts; see the same migration for Postgres.
CREATE TABLE alerts (
  id              TEXT PRIMARY KEY,
  kind            TEXT NOT NULL,
  subject         TEXT NOT NULL,
  opening         INTEGER NOT NULL CHECK (opening >= 1),
  severity        TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  state           TEXT NOT NULL CHECK (state IN ('open', 'acknowledged', 'closed')),
  summary         TEXT NOT NULL,
  details         TEXT NOT NULL,
  items           INTEGER NOT NULL,
  opened_at       INTEGER NOT NULL,
  changed_at      INTEGER NOT NULL,
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  closed_at       INTEGER,
  closed_by       TEXT,
  revision        INTEGER NOT NULL,
  UNIQUE (kind, subject, opening)
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_opened ON alerts (opened_at, id);
CREATE INDEX alerts_unclosed ON alerts (kind, subject) WHERE state <> 'closed';
