-- Boards that are in no manifest yet, which only stewards and reviewers see. No record: they are changed and removed.
CREATE TABLE draft_board (
    benchmark_id integer NOT NULL,
    name text NOT NULL,
    yaml bytea NOT NULL,
    put_by integer NOT NULL,
    put_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_draft_board PRIMARY KEY (benchmark_id, name),
    CONSTRAINT fk_draft_board_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_draft_board_put_by FOREIGN KEY (put_by) REFERENCES token
);
