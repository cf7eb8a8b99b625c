-- Unexpected exceptions and what they cost: a board or table its recomputation, a submission its place. Those of boards
-- hold until the benchmark is published anew.
CREATE TABLE server_fault (
    id bigint GENERATED ALWAYS AS IDENTITY,
    number text NOT NULL,
    benchmark_id integer NOT NULL,
    submission_id bigint,
    what text NOT NULL,
    place text,
    error text NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_server_fault PRIMARY KEY (id),
    CONSTRAINT ck_server_fault_what CHECK (what IN (
        'board kept', 'board missing', 'table missing', 'set aside on a board', 'publication', 'set aside',
        'not admitted'
    )),
    CONSTRAINT fk_server_fault_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark ON DELETE CASCADE,
    CONSTRAINT fk_server_fault_submission_id FOREIGN KEY (submission_id) REFERENCES submission ON DELETE CASCADE
);
CREATE INDEX ix_server_fault_benchmark_id ON server_fault (benchmark_id);
CREATE INDEX ix_server_fault_submission_id ON server_fault (submission_id);
