-- Places in servers' worlds, and the deposits that paid for them. Only `books` writes them. Times are microseconds.
CREATE TABLE spawns (
  id             text PRIMARY KEY,
  server         text NOT NULL,
  request_key    text NOT NULL, -- the game server's own idempotency key
  wallet         text NOT NULL, -- the player
  asset          bigint NOT NULL,
  amount         numeric(39,0) NOT NULL, -- what enters the world
  mass           numeric(39,0) NOT NULL, -- in units of 10^-mass_decimals
  mass_decimals  bigint NOT NULL,
  deposit        text, -- the deposit that it consumes, if the game names one
  config_version bigint NOT NULL, -- of the server, whose price it was
  status         text NOT NULL CHECK (status IN ('reserved', 'committed', 'released', 'refunded', 'expired', 'exited')),
  reserved_at    bigint NOT NULL,
  expires_at     bigint NOT NULL, -- a reservation is over by itself then, whatever the status says
  hold           bigint, -- written after the commit that made it; found in the journal if it is missing
  UNIQUE (server, request_key)
);
CREATE INDEX spawns_live ON spawns (server, id) WHERE status = 'committed';
CREATE INDEX spawns_player ON spawns (server, wallet);
CREATE TABLE deposit_consumptions (
  server  text NOT NULL,
  deposit text NOT NULL,
  wallet  text NOT NULL,
  spawn   text NOT NULL, -- the newest spawn that wanted it
  status  text NOT NULL CHECK (status IN ('reserved', 'consumed', 'released')),
  PRIMARY KEY (server, deposit)
);
