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

-- Which submission stood for an entrant in a snapshot; null `task_ids`: for all of its tasks.
CREATE TABLE snapshot_entry (
    snapshot_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    submission_id bigint NOT NULL,
    task_ids integer[],
    CONSTRAINT pk_snapshot_entry PRIMARY KEY (snapshot_id, entrant_id, submission_id),
    CONSTRAINT fk_snapshot_entry_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot,
    CONSTRAINT fk_snapshot_entry_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_snapshot_entry_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);

-- A published table: the JSON of app/values/table.py, or of a square its columns as arrays; compressed already.
CREATE TABLE snapshot_table (
    snapshot_id bigint NOT NULL,
    name text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT pk_snapshot_table PRIMARY KEY (snapshot_id, name),
    CONSTRAINT fk_snapshot_table_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot
);
ALTER TABLE snapshot_table ALTER content SET STORAGE EXTERNAL;

ALTER TABLE benchmark ADD CONSTRAINT fk_benchmark_snapshot_id FOREIGN KEY (snapshot_id) REFERENCES snapshot;
