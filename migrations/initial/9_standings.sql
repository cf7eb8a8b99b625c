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
CREATE TRIGGER end_standing BEFORE UPDATE ON standing FOR EACH ROW EXECUTE FUNCTION end_standing();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON standing
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();

-- What is pinned, and what is shown, does not end, whoever asks; what has ended is not pinned. One lock for each snapshot
-- lets neither be decided while the other is.
CREATE FUNCTION keep_pinned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('plumbline keeps snapshot ' || NEW.snapshot_id, 0));
    IF EXISTS (SELECT FROM snapshot_pin WHERE snapshot_id = NEW.snapshot_id)
        OR EXISTS (SELECT FROM benchmark WHERE snapshot_id = NEW.snapshot_id) THEN
        RAISE EXCEPTION 'snapshot % is pinned or shown: it does not end', NEW.snapshot_id
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER keep_pinned BEFORE INSERT ON snapshot_end FOR EACH ROW EXECUTE FUNCTION keep_pinned();
CREATE FUNCTION refuse_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('plumbline keeps snapshot ' || NEW.snapshot_id, 0));
    IF EXISTS (SELECT FROM snapshot_end WHERE snapshot_id = NEW.snapshot_id) THEN
        RAISE EXCEPTION 'snapshot % has ended: it cannot be pinned', NEW.snapshot_id
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_ended BEFORE INSERT ON snapshot_pin FOR EACH ROW EXECUTE FUNCTION refuse_ended();
