-- Which submission stood for an entrant, from the snapshot of a number on and before that of another: a publication adds
-- what is new and ends what is over, where a row for each entrant would be added to each snapshot. Null `task_ids`: for
-- all of its tasks; null `until`: in the newest snapshot too.
CREATE TABLE standing (
    benchmark_id integer NOT NULL,
    entrant_id integer NOT NULL,
    submission_id bigint NOT NULL,
    since integer NOT NULL,
    until integer,
    task_ids integer[],
    CONSTRAINT pk_standing PRIMARY KEY (benchmark_id, entrant_id, submission_id, since),
    CONSTRAINT ck_standing_until CHECK (until > since),
    CONSTRAINT fk_standing_benchmark_id FOREIGN KEY (benchmark_id) REFERENCES benchmark,
    CONSTRAINT fk_standing_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_standing_submission_id FOREIGN KEY (submission_id) REFERENCES submission
);
CREATE FUNCTION end_standing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.until IS NULL AND to_jsonb(NEW) - 'until' = to_jsonb(OLD) - 'until' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'standing is a record: only its end is added, once'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_history BEFORE UPDATE ON standing FOR EACH ROW EXECUTE FUNCTION end_standing();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON standing
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
