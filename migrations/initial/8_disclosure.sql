-- Labels that are a secret: what binds their steward, which items are public, and what was told of them to whom.

-- What the commitment to a benchmark's labels is made of. It is shown when the benchmark closes, the commitment at once.
CREATE TABLE label_secret (
    benchmark_id integer NOT NULL,
    salt bytea NOT NULL,
    public_share double precision NOT NULL,
    labels_sha256 text NOT NULL,
    commitment text NOT NULL,
    committed_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_label_secret PRIMARY KEY (benchmark_id),
    CONSTRAINT fk_label_secret_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark
);

-- Which items of a task are public: a packed bit for each, in the order of the labels.
CREATE TABLE label_part (
    benchmark_id integer NOT NULL,
    task text NOT NULL,
    public bytea NOT NULL,
    CONSTRAINT pk_label_part PRIMARY KEY (benchmark_id, task),
    CONSTRAINT fk_label_part_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark
);

-- A benchmark closed, once: by a steward, or because its time had come. `labels_match`: they were still those committed to.
CREATE TABLE label_close (
    benchmark_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    by_id integer,
    reason text NOT NULL,
    labels_match boolean NOT NULL,
    CONSTRAINT pk_label_close PRIMARY KEY (benchmark_id),
    CONSTRAINT fk_label_close_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_label_close_by_id FOREIGN KEY (by_id) REFERENCES token
);

-- A submission that is scored against private labels. Nothing gives an attempt back: no withdrawal, no failed check.
CREATE TABLE label_attempt (
    submission_id bigint NOT NULL,
    benchmark_id integer NOT NULL,
    token_id integer NOT NULL,
    exempt boolean NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_label_attempt PRIMARY KEY (submission_id),
    CONSTRAINT fk_label_attempt_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_label_attempt_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_label_attempt_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_label_attempt_benchmark_id ON label_attempt (benchmark_id, token_id);

-- One scored entrant of an attempt: whether its scores were shown, and the score on each board that the next must beat.
CREATE TABLE label_answer (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    shown boolean NOT NULL,
    rungs jsonb NOT NULL,
    n_numbers integer NOT NULL,
    predictions_sha256 text NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_label_answer PRIMARY KEY (submission_id, entrant_id),
    CONSTRAINT fk_label_answer_submission_id FOREIGN KEY (submission_id) REFERENCES label_attempt,
    CONSTRAINT fk_label_answer_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant
);
CREATE INDEX ix_label_answer_entrant_id ON label_answer (entrant_id);

-- A steward says that two tokens are one owner in a benchmark, so that they share a quota; the newest row of a token holds.
CREATE TABLE owner_link (
    id bigint GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    token_id integer NOT NULL,
    owner_id integer NOT NULL,
    by_id integer NOT NULL,
    reason text NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_owner_link PRIMARY KEY (id),
    CONSTRAINT fk_owner_link_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_owner_link_token_id FOREIGN KEY (token_id) REFERENCES token,
    CONSTRAINT fk_owner_link_owner_id FOREIGN KEY (owner_id) REFERENCES token,
    CONSTRAINT fk_owner_link_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_owner_link_benchmark_id ON owner_link (benchmark_id);
