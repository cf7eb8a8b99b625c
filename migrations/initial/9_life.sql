-- What changes of a benchmark beside its manifest: title and description of a version, and that it is retired.
CREATE TABLE benchmark_change (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    manifest_version_id integer NOT NULL,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    title text,
    description text,
    retired_because text,
    CONSTRAINT pk_benchmark_change PRIMARY KEY (id),
    CONSTRAINT ck_benchmark_change_says_something CHECK (num_nonnulls(title, description, retired_because) > 0),
    CONSTRAINT fk_benchmark_change_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_benchmark_change_manifest_version_id FOREIGN KEY (manifest_version_id) REFERENCES manifest_version,
    CONSTRAINT fk_benchmark_change_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_benchmark_change_benchmark_id ON benchmark_change (benchmark_id);
CREATE INDEX ix_benchmark_change_manifest_version_id ON benchmark_change (manifest_version_id);
