-- What other roles hand over to `books`. A row's id is chosen by who hands it over, so that the same fact again is the
-- same row; there is no sequence whose order could be taken for the order of commits. Only `books` changes a row: `state`
-- becomes `applied` in the commit of the money it causes, or `refused` with the reason. Times are microseconds.
CREATE TABLE indexer_events (
  id           text PRIMARY KEY,
  type         text NOT NULL,
  deposit_id   text NOT NULL,
  body         text NOT NULL, -- JSON; what it says is between the two roles
  node         text NOT NULL, -- who handed it over
  created_at   bigint NOT NULL CHECK (created_at >= 0),
  state        text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'applied', 'refused')),
  reason       text,
  tries        bigint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  due_at       bigint NOT NULL DEFAULT 0 CHECK (due_at >= 0), -- not before then, by the clock of `books`
  processed_at bigint
);
CREATE INDEX indexer_events_new ON indexer_events (created_at, id) WHERE state = 'new';
CREATE INDEX indexer_events_deposit ON indexer_events (deposit_id);

CREATE TABLE payout_events (
  id           text PRIMARY KEY,
  type         text NOT NULL,
  intent_id    text NOT NULL,
  body         text NOT NULL,
  node         text NOT NULL,
  created_at   bigint NOT NULL CHECK (created_at >= 0),
  state        text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'applied', 'refused')),
  reason       text,
  tries        bigint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  due_at       bigint NOT NULL DEFAULT 0 CHECK (due_at >= 0),
  processed_at bigint
);
CREATE INDEX payout_events_new ON payout_events (created_at, id) WHERE state = 'new';
CREATE INDEX payout_events_refused ON payout_events (created_at, id) WHERE state = 'refused';
CREATE INDEX payout_events_intent ON payout_events (intent_id);

-- For people only. The fact that consumes a row must be the same each time it is asked for, so it cannot say the time.
CREATE FUNCTION inbox_note_time() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.processed_at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint; RETURN NEW; END $$;
CREATE TRIGGER indexer_events_processed BEFORE UPDATE OF state ON indexer_events
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION inbox_note_time();
CREATE TRIGGER payout_events_processed BEFORE UPDATE OF state ON payout_events
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION inbox_note_time();
