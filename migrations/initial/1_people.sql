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
    scopes text[],
    entrants text[],
    former_hash bytea,
    former_until timestamptz,
    CONSTRAINT pk_token PRIMARY KEY (id),
    CONSTRAINT ck_token_role CHECK (role IN ('submitter', 'steward', 'admin')),
    CONSTRAINT ck_token_scopes CHECK (scopes <@ ARRAY['read', 'submit', 'steward']),
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
    visibility text DEFAULT 'public' NOT NULL,
    CONSTRAINT ck_benchmark_visibility CHECK (visibility IN ('draft', 'private', 'public')),
    CONSTRAINT pk_benchmark PRIMARY KEY (id),
    CONSTRAINT uq_benchmark_slug UNIQUE (slug),
    CONSTRAINT fk_benchmark_created_by FOREIGN KEY (created_by) REFERENCES token
);
-- Whose boards are behind is asked every few seconds.
CREATE INDEX ix_benchmark_behind ON benchmark (id) WHERE data_version > published_version;
-- Every statement of a reader leaves out what is hidden from them.
CREATE INDEX ix_benchmark_not_public ON benchmark (id) WHERE visibility <> 'public';

-- One immutable version of a benchmark's manifest, as the bytes that were sent. What a list of benchmarks shows of it
-- stands beside them: to read ten thousand manifests takes minutes.
CREATE TABLE manifest_version (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    version integer NOT NULL,
    yaml bytea NOT NULL,
    sha256 text NOT NULL,
    title text NOT NULL,
    evidence text NOT NULL,
    leaderboards jsonb NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by integer NOT NULL,
    CONSTRAINT pk_manifest_version PRIMARY KEY (id),
    CONSTRAINT uq_manifest_version_benchmark_id UNIQUE (benchmark_id, version),
    CONSTRAINT fk_manifest_version_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_manifest_version_created_by FOREIGN KEY (created_by) REFERENCES token
);

-- A token was given a role in a benchmark, or lost it; the newest of the two holds, until its time.
CREATE TABLE role_grant (
    id integer GENERATED ALWAYS AS IDENTITY,
    benchmark_id integer NOT NULL,
    token_id integer NOT NULL,
    role text NOT NULL,
    granted boolean NOT NULL,
    until timestamptz,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_role_grant PRIMARY KEY (id),
    CONSTRAINT ck_role_grant_role CHECK (role IN ('steward', 'reviewer', 'submitter')),
    CONSTRAINT fk_role_grant_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_role_grant_token_id FOREIGN KEY (token_id) REFERENCES token,
    CONSTRAINT fk_role_grant_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_role_grant_benchmark_id ON role_grant (benchmark_id, token_id, role);
CREATE INDEX ix_role_grant_token_id ON role_grant (token_id);

-- A code that makes one token, once; only its SHA-256 is kept.
CREATE TABLE invitation (
    id integer GENERATED ALWAYS AS IDENTITY,
    hash bytea NOT NULL,
    role text NOT NULL,
    benchmark_id integer,
    token_days integer,
    made_by integer NOT NULL,
    made_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    used_at timestamptz,
    token_id integer,
    CONSTRAINT pk_invitation PRIMARY KEY (id),
    CONSTRAINT ck_invitation_role CHECK (role IN ('submitter', 'reviewer', 'steward')),
    CONSTRAINT uq_invitation_hash UNIQUE (hash),
    CONSTRAINT fk_invitation_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_invitation_made_by FOREIGN KEY (made_by) REFERENCES token,
    CONSTRAINT fk_invitation_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_invitation_benchmark_id ON invitation (benchmark_id);

-- What stands for a token in a browser; only the SHA-256 of its secret is kept.
CREATE TABLE browser_session (
    id integer GENERATED ALWAYS AS IDENTITY,
    hash bytea NOT NULL,
    token_id integer NOT NULL,
    begun_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    proved_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    CONSTRAINT pk_browser_session PRIMARY KEY (id),
    CONSTRAINT uq_browser_session_hash UNIQUE (hash),
    CONSTRAINT fk_browser_session_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_browser_session_token_id ON browser_session (token_id);
