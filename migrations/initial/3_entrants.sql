-- What is compared and on what: names, who owns them, tasks.

-- What is compared. Names of one key (Unicode NFKC, case folded; made by the program) are one name.
CREATE TABLE entrant (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    owner_id integer,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_entrant PRIMARY KEY (id),
    CONSTRAINT fk_entrant_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_entrant_owner_id FOREIGN KEY (owner_id) REFERENCES token
);
CREATE UNIQUE INDEX uq_entrant_benchmark_id_name_key ON entrant (benchmark_id, name_key);

-- A steward moved an entrant to another owner, and why.
CREATE TABLE entrant_transfer (
    id integer GENERATED ALWAYS AS IDENTITY,
    entrant_id integer NOT NULL,
    from_id integer,
    to_id integer NOT NULL,
    by_id integer NOT NULL,
    reason text NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT pk_entrant_transfer PRIMARY KEY (id),
    CONSTRAINT fk_entrant_transfer_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_entrant_transfer_from_id FOREIGN KEY (from_id) REFERENCES token,
    CONSTRAINT fk_entrant_transfer_to_id FOREIGN KEY (to_id) REFERENCES token,
    CONSTRAINT fk_entrant_transfer_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_entrant_transfer_entrant_id ON entrant_transfer (entrant_id);

-- A registration named an entrant that nobody owned: nobody else may take the name until then.
CREATE TABLE entrant_reservation (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark text NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    token_id integer NOT NULL,
    prereg_sha256 text NOT NULL,
    reserved_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    until timestamptz NOT NULL,
    CONSTRAINT pk_entrant_reservation PRIMARY KEY (id),
    CONSTRAINT fk_entrant_reservation_token_id FOREIGN KEY (token_id) REFERENCES token,
    CONSTRAINT fk_entrant_reservation_prereg_sha256 FOREIGN KEY (prereg_sha256) REFERENCES prereg
);
CREATE INDEX ix_entrant_reservation_prereg_sha256 ON entrant_reservation (prereg_sha256);
CREATE INDEX ix_entrant_reservation_token_id ON entrant_reservation (token_id);
CREATE UNIQUE INDEX uq_entrant_reservation_name ON entrant_reservation (benchmark, name_key, token_id);

-- A steward, or the registrant, gave a reserved name free, and why.
CREATE TABLE entrant_release (
    reservation_id integer NOT NULL,
    by_id integer NOT NULL,
    reason text NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_entrant_release PRIMARY KEY (reservation_id),
    CONSTRAINT fk_entrant_release_reservation_id FOREIGN KEY (reservation_id) REFERENCES entrant_reservation,
    CONSTRAINT fk_entrant_release_by_id FOREIGN KEY (by_id) REFERENCES token
);

-- A task's name, stored once; score rows hold its number. `stratum` is what the name stands for in a series.
CREATE TABLE task (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    stratum jsonb,
    CONSTRAINT pk_task PRIMARY KEY (id),
    CONSTRAINT uq_task_benchmark_id UNIQUE (benchmark_id, name_key),
    CONSTRAINT fk_task_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark
);
