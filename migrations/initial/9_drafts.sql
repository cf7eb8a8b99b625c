-- Manifests that are no version yet, which only stewards see. No record: they are changed and removed.
CREATE TABLE draft_manifest (
    benchmark_id integer NOT NULL,
    yaml bytea NOT NULL,
    put_by integer NOT NULL,
    put_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_draft_manifest PRIMARY KEY (benchmark_id),
    CONSTRAINT fk_draft_manifest_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_draft_manifest_put_by FOREIGN KEY (put_by) REFERENCES token
);
