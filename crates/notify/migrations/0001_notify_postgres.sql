-- Where events are delivered to. Facts of requests in the journal write it: each column has an author. `server` is null
-- for the deployment; `secret` and `previous_secret` are ids of webhook_secrets, never secrets.
CREATE TABLE webhook_endpoints (
  id              text PRIMARY KEY,
  url             text NOT NULL,
  types           text NOT NULL,
  server          text,
  state           text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  disabled_reason text,
  disabled_at     bigint,
  secret          text NOT NULL,
  previous_secret text,
  previous_until  bigint,
  from_seq        bigint NOT NULL CHECK (from_seq >= 0),
  from_place      bigint NOT NULL CHECK (from_place >= 0),
  created_at      bigint NOT NULL CHECK (created_at >= 0),
  revision        bigint NOT NULL CHECK (revision > 0)
);

-- The keys of signatures, apart from the endpoints: the journal is read by auditors and never forgets.
CREATE TABLE webhook_secrets (
  id         text PRIMARY KEY,
  endpoint   text NOT NULL,
  secret     bytea NOT NULL CHECK (length(secret) = 32),
  created_at bigint NOT NULL CHECK (created_at >= 0)
);

-- What people have asked of an endpoint: events again, or a test. Numbered from 1 for each endpoint; facts write it.
CREATE TABLE webhook_requests (
  endpoint     text NOT NULL,
  number       bigint NOT NULL CHECK (number > 0),
  kind         text NOT NULL CHECK (kind IN ('resend', 'test')),
  from_seq     bigint NOT NULL CHECK (from_seq >= 0),
  from_place   bigint NOT NULL CHECK (from_place >= 0),
  to_seq       bigint NOT NULL CHECK (to_seq >= 0),
  to_place     bigint NOT NULL CHECK (to_place >= 0),
  requested_at bigint NOT NULL CHECK (requested_at >= 0),
  PRIMARY KEY (endpoint, number)
);

-- How far the role notify has come with an endpoint. `revision` is the revision of the endpoint that it works for;
-- `stopped_at` that it delivers no more to this revision, and why.
CREATE TABLE webhook_progress (
  endpoint     text PRIMARY KEY,
  revision     bigint NOT NULL CHECK (revision > 0),
  seq          bigint NOT NULL CHECK (seq >= 0),
  place        bigint NOT NULL CHECK (place >= 0),
  request      bigint NOT NULL CHECK (request >= 0),
  resent_seq   bigint NOT NULL CHECK (resent_seq >= 0),
  resent_place bigint NOT NULL CHECK (resent_place >= 0),
  stopped_at   bigint,
  stop_reason  text
);

-- One row for each event and endpoint, from the time it is due. Record 0 stands for test events; then `place` is the
-- number of the request.
CREATE TABLE webhook_deliveries (
  endpoint     text NOT NULL,
  seq          bigint NOT NULL CHECK (seq >= 0),
  place        bigint NOT NULL CHECK (place >= 0),
  type         text NOT NULL,
  resource     text NOT NULL,
  state        text NOT NULL CHECK (state IN ('pending', 'delivered')),
  attempts     bigint NOT NULL CHECK (attempts >= 0),
  next_at      bigint NOT NULL CHECK (next_at >= 0),
  last_at      bigint,
  last_status  bigint,
  last_error   text,
  answer       text,
  created_at   bigint NOT NULL CHECK (created_at >= 0),
  PRIMARY KEY (endpoint, seq, place)
);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint, seq, place) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_old ON webhook_deliveries (last_at) WHERE state = 'delivered';

-- One row: which worker delivers, and until when others leave it to that worker.
CREATE TABLE webhook_worker (
  one    bigint PRIMARY KEY CHECK (one = 1),
  holder text NOT NULL,
  until  bigint NOT NULL CHECK (until >= 0)
);
