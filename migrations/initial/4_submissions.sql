-- What was sent, how it was checked and what counts of it now.

-- One upload. The same bytes are one submission, until it is withdrawn or set aside.
CREATE TABLE submission (
    id bigint GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    manifest_version_id integer NOT NULL,
    prereg_sha256 text,
    token_id integer NOT NULL,
    digest text NOT NULL,
    idempotency_key text,
    status text NOT NULL,
    run_purpose text NOT NULL,
    columns text[] NOT NULL,
    n_rows integer NOT NULL,
    description jsonb NOT NULL,
    claims jsonb,
    facts jsonb DEFAULT '{}' NOT NULL,
    received_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    evaluation_tries integer DEFAULT 0 NOT NULL,
    evaluation_retry_at timestamptz,
    request_id text,
    CONSTRAINT pk_submission PRIMARY KEY (id),
    CONSTRAINT ck_submission_status CHECK (
        status IN ('received', 'evaluated', 'published', 'not_admitted', 'withdrawn', 'superseded', 'set_aside')
    ),
    CONSTRAINT uq_submission_idempotency_key UNIQUE (token_id, idempotency_key),
    CONSTRAINT fk_submission_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_submission_manifest_version_id FOREIGN KEY (manifest_version_id) REFERENCES manifest_version,
    CONSTRAINT fk_submission_prereg_sha256 FOREIGN KEY (prereg_sha256) REFERENCES prereg,
    CONSTRAINT fk_submission_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_submission_benchmark_id_status ON submission (benchmark_id, status);
-- What waits to be evaluated is little among all that was ever sent, and looked for every few seconds.
CREATE INDEX ix_submission_waits ON submission (benchmark_id, id)
    WHERE status = 'received' OR status = 'not_admitted' AND run_purpose <> 'leaderboard';
CREATE INDEX ix_submission_prereg_sha256 ON submission (prereg_sha256);
CREATE UNIQUE INDEX uq_submission_digest ON submission (benchmark_id, token_id, digest)
    WHERE status NOT IN ('withdrawn', 'set_aside');

-- A submission reached a state, when and why.
CREATE TABLE submission_event (
    id bigint GENERATED ALWAYS AS IDENTITY,
    submission_id bigint NOT NULL,
    status text NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pk_submission_event PRIMARY KEY (id),
    CONSTRAINT fk_submission_event_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);
CREATE INDEX ix_submission_event_submission_id ON submission_event (submission_id);

-- A file as it was sent, or a member of a sent archive.
CREATE TABLE submission_file (
    submission_id bigint NOT NULL,
    position smallint NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    n_bytes bigint NOT NULL,
    n_rows integer NOT NULL,
    CONSTRAINT pk_submission_file PRIMARY KEY (submission_id, position),
    CONSTRAINT fk_submission_file_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);
-- The same bytes under another entrant are looked for whenever a file arrives.
CREATE INDEX ix_submission_file_sha256 ON submission_file (sha256);

-- One admission rule applied to one submission.
CREATE TABLE submission_check (
    submission_id bigint NOT NULL,
    position smallint NOT NULL,
    rule text NOT NULL,
    outcome text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pk_submission_check PRIMARY KEY (submission_id, position),
    CONSTRAINT ck_submission_check_outcome CHECK (outcome IN ('passed', 'failed', 'warned')),
    CONSTRAINT fk_submission_check_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);

-- A table computed from one submission alone, or sent with it.
CREATE TABLE submission_table (
    submission_id bigint NOT NULL,
    name text NOT NULL,
    content jsonb NOT NULL,
    CONSTRAINT pk_submission_table PRIMARY KEY (submission_id, name),
    CONSTRAINT fk_submission_table_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);

-- One entrant in one submission, and whether it is the evidence that counts now; null `task_ids`: for all its tasks.
CREATE TABLE entry (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    n_rows integer NOT NULL,
    state text NOT NULL,
    superseded_by bigint,
    task_ids integer[],
    CONSTRAINT pk_entry PRIMARY KEY (submission_id, entrant_id),
    CONSTRAINT ck_entry_state CHECK (
        state IN ('pending', 'current', 'superseded', 'withdrawn', 'not_admitted', 'set_aside')
    ),
    CONSTRAINT fk_entry_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_entry_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_entry_superseded_by FOREIGN KEY (superseded_by) REFERENCES submission
);
CREATE INDEX ix_entry_current ON entry (entrant_id) WHERE state = 'current';
CREATE INDEX ix_entry_entrant_id ON entry (entrant_id);
CREATE INDEX ix_entry_superseded_by ON entry (superseded_by) WHERE superseded_by IS NOT NULL;

-- What tells one entrant's rows in one submission from others, and the flags that they raised on arrival.
CREATE TABLE fingerprint (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    n_rows integer NOT NULL,
    places text NOT NULL,
    results text NOT NULL,
    sample bytea NOT NULL,
    contents bigint[] NOT NULL,
    sampled_columns text[] NOT NULL,
    sampled_places bytea NOT NULL,
    sampled_values bytea NOT NULL,
    flags text[] NOT NULL,
    CONSTRAINT pk_fingerprint PRIMARY KEY (submission_id, entrant_id),
    CONSTRAINT fk_fingerprint_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_fingerprint_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant
);
CREATE INDEX ix_fingerprint_entrant_id ON fingerprint (entrant_id);
CREATE INDEX ix_fingerprint_contents ON fingerprint USING gin (contents);
CREATE INDEX ix_fingerprint_results ON fingerprint (results);
