-- Who may do what, and the benchmarks that they made.

-- A bearer token: only its SHA-256 is kept. No two have the same name, whatever its case.
CREATE TABLE token (
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    role text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    revoked_at timestamptz,
    expires_at timestamptz,
    used_at timestamptz,
    benchmarks text[],
    former_hash bytea,
    former_until timestamptz,
    CONSTRAINT pk_token PRIMARY KEY (id),
    CONSTRAINT ck_token_role CHECK (role IN ('submitter', 'steward', 'admin')),
    CONSTRAINT uq_token_hash UNIQUE (hash),
    CONSTRAINT uq_token_former_hash UNIQUE (former_hash)
);
CREATE UNIQUE INDEX uq_token_lower_name ON token (lower(name));

-- A benchmark and its counters. `snapshot_id` is the published snapshot; its key is in 6_snapshots.sql.
CREATE TABLE benchmark (
    id integer GENERATED ALWAYS AS IDENTITY,
    slug text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by integer NOT NULL,
    data_version bigint DEFAULT 0 NOT NULL,
    published_version bigint DEFAULT 0 NOT NULL,
    change_version bigint DEFAULT 0 NOT NULL,
    boards_version bigint DEFAULT 0 NOT NULL,
    snapshot_id bigint,
    publish_error text,
    publish_tries integer DEFAULT 0 NOT NULL,
    publish_retry_at timestamptz,
    CONSTRAINT pk_benchmark PRIMARY KEY (id),
    CONSTRAINT uq_benchmark_slug UNIQUE (slug),
    CONSTRAINT fk_benchmark_created_by FOREIGN KEY (created_by) REFERENCES token
);

-- One immutable version of a benchmark's manifest, as the bytes that were sent.
CREATE TABLE manifest_version (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    version integer NOT NULL,
    yaml bytea NOT NULL,
    sha256 text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by integer NOT NULL,
    CONSTRAINT pk_manifest_version PRIMARY KEY (id),
    CONSTRAINT uq_manifest_version_benchmark_id UNIQUE (benchmark_id, version),
    CONSTRAINT fk_manifest_version_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_manifest_version_created_by FOREIGN KEY (created_by) REFERENCES token
);

-- A token became steward of a benchmark, or ceased to be; the newest of the two is what holds.
CREATE TABLE steward_grant (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    token_id integer NOT NULL,
    granted boolean NOT NULL,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_steward_grant PRIMARY KEY (id),
    CONSTRAINT fk_steward_grant_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_steward_grant_token_id FOREIGN KEY (token_id) REFERENCES token,
    CONSTRAINT fk_steward_grant_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_steward_grant_benchmark_id ON steward_grant (benchmark_id, token_id);
