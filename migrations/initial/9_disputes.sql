-- What somebody says is wrong with a submission, and what a steward answered, once. Neither is ever rewritten.
CREATE TABLE dispute (
    id integer GENERATED ALWAYS AS IDENTITY,
    submission_id bigint NOT NULL,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    text text NOT NULL,
    CONSTRAINT pk_dispute PRIMARY KEY (id),
    CONSTRAINT fk_dispute_submission_id FOREIGN KEY (submission_id) REFERENCES submission,
    CONSTRAINT fk_dispute_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_dispute_submission_id ON dispute (submission_id);
CREATE INDEX ix_dispute_by_id ON dispute (by_id);
CREATE TABLE dispute_answer (
    dispute_id integer NOT NULL,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    text text NOT NULL,
    CONSTRAINT pk_dispute_answer PRIMARY KEY (dispute_id),
    CONSTRAINT fk_dispute_answer_dispute_id FOREIGN KEY (dispute_id) REFERENCES dispute,
    CONSTRAINT fk_dispute_answer_by_id FOREIGN KEY (by_id) REFERENCES token
);
