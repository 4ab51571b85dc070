-- What a person must look at. Only facts of the journal write it. Times are microseconds.
CREATE TABLE alerts (
  id              text PRIMARY KEY,
  kind            text NOT NULL,
  subject         text NOT NULL, -- what it is about: a wallet, a chain, a node, a payout
  opening         bigint NOT NULL CHECK (opening >= 1), -- which alert of its kind and subject it is
  severity        text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  state           text NOT NULL CHECK (state IN ('open', 'acknowledged', 'closed')),
  summary         text NOT NULL,
  details         text NOT NULL, -- JSON
  items           bigint NOT NULL, -- how many deposits, payouts, ... the condition has
  opened_at       bigint NOT NULL,
  changed_at      bigint NOT NULL,
  acknowledged_at bigint,
  acknowledged_by text,
  closed_at       bigint,
  closed_by       text, -- null if it closed by itself
  revision        bigint NOT NULL,
  UNIQUE (kind, subject, opening)
);
CREATE INDEX alerts_opened ON alerts (opened_at, id);
CREATE INDEX alerts_unclosed ON alerts (kind, subject) WHERE state <> 'closed';
