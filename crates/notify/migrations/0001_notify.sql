-- Where events are delivered to. Facts of requests in the journal write it: each column has an author. `server` is null
-- for the deployment; `secret` and `previous_secret` are ids of webhook_secrets, never secrets.
CREATE TABLE webhook_endpoints (
  id              TEXT PRIMARY KEY,
  url             TEXT NOT NULL,
  types           TEXT NOT NULL,
  server          TEXT,
  state           TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
  disabled_reason TEXT,
  disabled_at     INTEGER,
  secret          TEXT NOT NULL,
  previous_secret TEXT,
  previous_until  INTEGER,
  from_seq        INTEGER NOT NULL CHECK (from_seq >= 0),
  from_place      INTEGER NOT NULL CHECK (from_place >= 0),
  created_at      INTEGER NOT NULL CHECK (created_at >= 0),
  revision        INTEGER NOT NULL CHECK (revision > 0)
) STRICT, WITHOUT ROWID;

-- The keys of signatures, apart from the endpoints: the journal is read by auditors and never forgets.
CREATE TABLE webhook_secrets (
  id         TEXT PRIMARY KEY,
  endpoint   TEXT NOT NULL,
  secret     BLOB NOT NULL CHECK (length(secret) = 32),
  created_at INTEGER NOT NULL CHECK (created_at >= 0)
) STRICT, WITHOUT ROWID;

-- What people have asked of an endpoint: events again, or a test. Numbered from 1 for each endpoint; facts write it.
CREATE TABLE webhook_requests (
  endpoint     TEXT NOT NULL,
  number       INTEGER NOT NULL CHECK (number > 0),
  kind         TEXT NOT NULL CHECK (kind IN ('resend', 'test')),
  from_seq     INTEGER NOT NULL CHECK (from_seq >= 0),
  from_place   INTEGER NOT NULL CHECK (from_place >= 0),
  to_seq       INTEGER NOT NULL CHECK (to_seq >= 0),
  to_place     INTEGER NOT NULL CHECK (to_place >= 0),
  requested_at INTEGER NOT NULL CHECK (requested_at >= 0),
  PRIMARY KEY (endpoint, number)
) STRICT, WITHOUT ROWID;

-- How far the role notify has come with an endpoint. `revision` is the revision of the endpoint that it works for;
-- `stopped_at` that it delivers no more to this revision, and why.
CREATE TABLE webhook_progress (
  endpoint     TEXT PRIMARY KEY,
  revision     INTEGER NOT NULL CHECK (revision > 0),
  seq          INTEGER NOT NULL CHECK (seq >= 0),
  place        INTEGER NOT NULL CHECK (place >= 0),
  request      INTEGER NOT NULL CHECK (request >= 0),
  resent_seq   INTEGER NOT NULL CHECK (resent_seq >= 0),
  resent_place INTEGER NOT NULL CHECK (resent_place >= 0),
  stopped_at   INTEGER,
  stop_reason  TEXT
) STRICT, WITHOUT ROWID;

-- One row for each event and endpoint, from the time it is due. Record 0 stands for test events; then `place` is the
-- number of the request.
CREATE TABLE webhook_deliveries (
  endpoint     TEXT NOT NULL,
  seq          INTEGER NOT NULL CHECK (seq >= 0),
  place        INTEGER NOT NULL CHECK (place >= 0),
  type         TEXT NOT NULL,
  resource     TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('pending', 'delivered')),
  attempts     INTEGER NOT NULL CHECK (attempts >= 0),
  next_at      INTEGER NOT NULL CHECK (next_at >= 0),
  last_at      INTEGER,
  last_status  INTEGER,
  last_error   TEXT,
  answer       TEXT,
  created_at   INTEGER NOT NULL CHECK (created_at >= 0),
  PRIMARY KEY (endpoint, seq, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint, seq, place) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_old ON webhook_deliveries (last_at) WHERE state = 'delivered';

-- One row: which worker delivers, and until when others leave it to that worker.
CREATE TABLE webhook_worker (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  holder TEXT NOT NULL,
  until  INTEGER NOT NULL CHECK (until >= 0)
) STRICT;
