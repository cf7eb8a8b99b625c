-- What was tried and came to nothing, or was only asked: the newest of each token, for whoever sent it to read again.
CREATE TABLE try (
    id text NOT NULL,
    benchmark_id integer NOT NULL,
    token_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    is_dry boolean NOT NULL,
    status integer NOT NULL,
    detail text NOT NULL,
    document jsonb NOT NULL,
    CONSTRAINT pk_try PRIMARY KEY (id),
    CONSTRAINT ck_try_status CHECK (status BETWEEN 200 AND 599),
    CONSTRAINT fk_try_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark ON DELETE CASCADE,
    CONSTRAINT fk_try_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_try_token_id_at ON try (token_id, at);
CREATE INDEX ix_try_benchmark_id_at ON try (benchmark_id, at);
