-- What was published. Nothing here is ever changed.

-- One immutable published state of a benchmark; `before` is the number of the one that was current until then.
CREATE TABLE snapshot (
    id bigint GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    number integer NOT NULL,
    manifest_version_id integer NOT NULL,
    input_digest text NOT NULL,
    manifest_digest text NOT NULL,
    code_version text NOT NULL,
    rng_seeds jsonb NOT NULL,
    withdrawals jsonb NOT NULL,
    changes jsonb NOT NULL,
    before integer,
    is_faulty boolean DEFAULT false NOT NULL,
    published_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_snapshot PRIMARY KEY (id),
    CONSTRAINT uq_snapshot_number UNIQUE (benchmark_id, number),
    CONSTRAINT fk_snapshot_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_snapshot_manifest_version_id FOREIGN KEY (manifest_version_id) REFERENCES manifest_version
);
-- The same inputs make the same snapshot again, unless it lacks something by a fault of the server.
CREATE UNIQUE INDEX uq_snapshot_inputs ON snapshot (benchmark_id, input_digest, manifest_digest, code_version)
    WHERE NOT is_faulty;
-- What is new of all benchmarks.
CREATE INDEX ix_snapshot_published_at ON snapshot (published_at);

-- A published table: the JSON of app/values/table.py, or of a square its columns as arrays; compressed already. A square
-- may be stored as what differs from that of an earlier snapshot, its base, which is stored whole.
CREATE TABLE snapshot_table (
    snapshot_id bigint NOT NULL,
    name text NOT NULL,
    base_id bigint,
    content bytea NOT NULL,
    CONSTRAINT pk_snapshot_table PRIMARY KEY (snapshot_id, name),
    CONSTRAINT fk_snapshot_table_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot,
    CONSTRAINT fk_snapshot_table_base_id FOREIGN KEY (base_id, name) REFERENCES snapshot_table
);
ALTER TABLE snapshot_table ALTER content SET STORAGE EXTERNAL;
-- What rests on a base is looked for before the base is removed.
CREATE INDEX ix_snapshot_table_base_id ON snapshot_table (base_id, name) WHERE base_id IS NOT NULL;

-- A snapshot whose tables are no longer kept: since when, and why. Its number is never used again.
CREATE TABLE snapshot_end (
    snapshot_id bigint NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pk_snapshot_end PRIMARY KEY (snapshot_id),
    CONSTRAINT fk_snapshot_end_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot
);

-- A snapshot that is kept for ever: somebody asked how to cite it, or an admin pinned it.
CREATE TABLE snapshot_pin (
    snapshot_id bigint NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pk_snapshot_pin PRIMARY KEY (snapshot_id),
    CONSTRAINT fk_snapshot_pin_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot
);

ALTER TABLE benchmark ADD CONSTRAINT fk_benchmark_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot;
