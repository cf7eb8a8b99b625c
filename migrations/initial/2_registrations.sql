-- What was registered before it was run.

-- A preregistration, addressed by the SHA-256 of its bytes.
CREATE TABLE prereg (
    sha256 text NOT NULL,
    git_blob_sha1 text NOT NULL,
    yaml bytea NOT NULL,
    form text NOT NULL,
    run_purpose text NOT NULL,
    registered_at timestamptz DEFAULT transaction_timestamp() NOT NULL,
    registered_by integer NOT NULL,
    embargo_until timestamptz,
    CONSTRAINT pk_prereg PRIMARY KEY (sha256),
    CONSTRAINT fk_prereg_registered_by FOREIGN KEY (registered_by) REFERENCES token
);

-- A preregistration was registered for a benchmark, by slug: the benchmark may be made later.
CREATE TABLE prereg_binding (
    prereg_sha256 text NOT NULL,
    benchmark text NOT NULL,
    bound_at timestamptz DEFAULT transaction_timestamp() NOT NULL,
    bound_by integer NOT NULL,
    CONSTRAINT pk_prereg_binding PRIMARY KEY (prereg_sha256, benchmark),
    CONSTRAINT fk_prereg_binding_prereg_sha256 FOREIGN KEY (prereg_sha256) REFERENCES prereg,
    CONSTRAINT fk_prereg_binding_bound_by FOREIGN KEY (bound_by) REFERENCES token
);
CREATE INDEX ix_prereg_binding_benchmark ON prereg_binding (benchmark);

-- A steward's word that a preregistration is older than its registration; null benchmark: for all of them.
CREATE TABLE prereg_attestation (
    id integer GENERATED ALWAYS AS IDENTITY,
    prereg_sha256 text NOT NULL,
    registered_at timestamptz NOT NULL,
    evidence text NOT NULL,
    attested_at timestamptz DEFAULT now() NOT NULL,
    attested_by integer NOT NULL,
    benchmark text,
    CONSTRAINT pk_prereg_attestation PRIMARY KEY (id),
    CONSTRAINT fk_prereg_attestation_prereg_sha256 FOREIGN KEY (prereg_sha256) REFERENCES prereg,
    CONSTRAINT fk_prereg_attestation_attested_by FOREIGN KEY (attested_by) REFERENCES token
);
CREATE INDEX ix_prereg_attestation_prereg_sha256 ON prereg_attestation (prereg_sha256);
