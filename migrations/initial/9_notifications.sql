-- Whom to tell what becomes of the submissions of a token: an address of the web that is called, or one of mail.
CREATE TABLE notification (
    id integer GENERATED ALWAYS AS IDENTITY,
    token_id integer NOT NULL,
    benchmark_id integer,
    address text NOT NULL,
    secret bytea NOT NULL,
    events text[] NOT NULL,
    made_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    confirmed_at timestamptz,
    ended_at timestamptz,
    ended_because text,
    CONSTRAINT pk_notification PRIMARY KEY (id),
    CONSTRAINT ck_notification_events CHECK (events <@ ARRAY['published', 'not_admitted', 'superseded']),
    CONSTRAINT fk_notification_token_id FOREIGN KEY (token_id) REFERENCES token,
    CONSTRAINT fk_notification_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark
);
CREATE INDEX ix_notification_token_id ON notification (token_id);
CREATE INDEX ix_notification_benchmark_id ON notification (benchmark_id);

-- One thing to tell to one address; there in the transaction in which it happened, gone some time after it was told.
CREATE TABLE delivery (
    id bigint GENERATED ALWAYS AS IDENTITY,
    notification_id integer NOT NULL,
    submission_id bigint,
    event text NOT NULL,
    reason text NOT NULL,
    made_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    due_at timestamptz DEFAULT clock_timestamp(),
    tries integer DEFAULT 0 NOT NULL,
    told_at timestamptz,
    last_error text,
    CONSTRAINT pk_delivery PRIMARY KEY (id),
    CONSTRAINT fk_delivery_notification_id FOREIGN KEY (notification_id) REFERENCES notification,
    CONSTRAINT fk_delivery_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);
CREATE INDEX ix_delivery_notification_id ON delivery (notification_id);
CREATE INDEX ix_delivery_submission_id ON delivery (submission_id);
CREATE INDEX ix_delivery_due_at ON delivery (due_at) WHERE due_at IS NOT NULL;

CREATE FUNCTION note_what_to_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO delivery (notification_id, submission_id, event, reason)
    SELECT notification.id, told.submission_id, told.status, told.reason
    FROM told
    JOIN submission ON submission.id = told.submission_id
    JOIN notification ON notification.token_id = submission.token_id
    WHERE told.status = ANY (notification.events)
      AND notification.confirmed_at IS NOT NULL AND notification.ended_at IS NULL
      AND (notification.benchmark_id IS NULL OR notification.benchmark_id = submission.benchmark_id)
    ORDER BY told.id;
    RETURN NULL;
END $$;
CREATE TRIGGER note_what_to_tell AFTER INSERT ON submission_event REFERENCING NEW TABLE AS told
    FOR EACH STATEMENT EXECUTE FUNCTION note_what_to_tell();
