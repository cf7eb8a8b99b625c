-- The rows themselves, and what they come to.

-- One evidence row; `values` are in the order of its submission's `columns`, null where it failed. Its numbers have no
-- foreign keys, and what tells two rows apart no unique one: three keys make the COPY of a million rows ten times slower.
-- app/store/score_keys.py checks every submission whole instead, in the transaction that writes it. The primary key is
-- what submissions are read by, from any row on; a BRIN index is cheaper to fill and 1,000 times slower to read by.
CREATE TABLE score (
    submission_id bigint NOT NULL,
    position integer NOT NULL,
    file smallint NOT NULL,
    row integer NOT NULL,
    entrant_id integer NOT NULL,
    task_id integer NOT NULL,
    condition text,
    seed bigint,
    item text,
    leaked boolean NOT NULL,
    values double precision[] NOT NULL,
    reason text,
    recorded jsonb,
    CONSTRAINT pk_score PRIMARY KEY (submission_id, position)
);

-- The score rows of one entrant in one submission, packed: what boards are computed from. It is made of the rows, in the
-- transaction that writes them, and `plumbline db rebuild` makes it anew. Numbers hardly compress: not trying is quicker.
CREATE TABLE evidence (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT pk_evidence PRIMARY KEY (submission_id, entrant_id),
    CONSTRAINT fk_evidence_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_evidence_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant
);
ALTER TABLE evidence ALTER content SET STORAGE EXTERNAL;

-- The labels of one task of a prediction benchmark, packed; never served to anyone but a steward.
CREATE TABLE label_set (
    benchmark_id integer NOT NULL,
    task text NOT NULL,
    n_items integer NOT NULL,
    items bytea NOT NULL,
    label bytea NOT NULL,
    weight bytea,
    "group" bytea,
    "row" bytea,
    sha256 text NOT NULL,
    put_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    put_by integer NOT NULL,
    CONSTRAINT pk_label_set PRIMARY KEY (benchmark_id, task),
    CONSTRAINT fk_label_set_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_label_set_put_by FOREIGN KEY (put_by) REFERENCES token
);

-- The items of a benchmark's grid, packed, as its steward put them under one version of the manifest.
CREATE TABLE item_set (
    manifest_version_id integer NOT NULL,
    task text NOT NULL,
    n_items integer NOT NULL,
    items bytea NOT NULL,
    sha256 text NOT NULL,
    put_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    put_by integer NOT NULL,
    CONSTRAINT pk_item_set PRIMARY KEY (manifest_version_id, task),
    CONSTRAINT fk_item_set_manifest_version_id FOREIGN KEY (manifest_version_id) REFERENCES manifest_version,
    CONSTRAINT fk_item_set_put_by FOREIGN KEY (put_by) REFERENCES token
);

-- What one entrant predicted for one task, packed in the order of the labels' items.
CREATE TABLE prediction (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    task_id integer NOT NULL,
    n_items integer NOT NULL,
    n_columns integer NOT NULL,
    values bytea NOT NULL,
    labels bytea,
    CONSTRAINT pk_prediction PRIMARY KEY (submission_id, entrant_id, task_id),
    CONSTRAINT fk_prediction_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_prediction_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_prediction_task_id FOREIGN KEY (task_id) REFERENCES task
);

-- What one entrant's evidence comes to under one board: a cache, which may be removed.
CREATE TABLE measured (
    submission_id bigint NOT NULL,
    entrant_id integer NOT NULL,
    key text NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    apart bytea,
    CONSTRAINT pk_measured PRIMARY KEY (submission_id, entrant_id, key),
    CONSTRAINT fk_measured_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_measured_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant
);
