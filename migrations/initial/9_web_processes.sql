-- The web processes that keep pages in memory, and when each last read the counters of changes.
CREATE TABLE web_process (
    id text NOT NULL,
    seen_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_web_process PRIMARY KEY (id)
);

-- A published submission that a web process may not show yet, since which state of its benchmark's boards.
CREATE TABLE unshown (
    submission_id bigint NOT NULL,
    web_process_id text NOT NULL,
    benchmark_id integer NOT NULL,
    boards_version bigint NOT NULL,
    CONSTRAINT pk_unshown PRIMARY KEY (submission_id, web_process_id),
    CONSTRAINT fk_unshown_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_unshown_web_process_id FOREIGN KEY (web_process_id) REFERENCES web_process ON DELETE CASCADE,
    CONSTRAINT fk_unshown_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark
);
CREATE INDEX ix_unshown_web_process_id ON unshown (web_process_id);
