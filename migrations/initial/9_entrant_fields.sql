-- What an entrant is said to be, by field of the manifest: every change is kept, and the newest of a field counts. A
-- null takes the value back. `source` says how it came: by a file of many, one by one, or from a model card.
CREATE TABLE entrant_field (
    id bigint GENERATED ALWAYS AS IDENTITY,
    entrant_id integer NOT NULL,
    field text NOT NULL,
    value jsonb,
    source text NOT NULL,
    by_id integer NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pk_entrant_field PRIMARY KEY (id),
    CONSTRAINT ck_entrant_field_source CHECK (source IN ('file', 'value', 'card')),
    CONSTRAINT fk_entrant_field_entrant_id FOREIGN KEY (entrant_id) REFERENCES entrant,
    CONSTRAINT fk_entrant_field_by_id FOREIGN KEY (by_id) REFERENCES token
);
CREATE INDEX ix_entrant_field_entrant_id ON entrant_field (entrant_id, field, id);
CREATE INDEX ix_entrant_field_by_id ON entrant_field (by_id);
-- Who erases a name empties what was said: nothing else about a change is altered, and none is removed.
CREATE FUNCTION empty_entrant_field() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.value IS NULL AND to_jsonb(NEW) - 'value' = to_jsonb(OLD) - 'value' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'entrant_field is a record: a value is only emptied'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER empty_entrant_field BEFORE UPDATE ON entrant_field
    FOR EACH ROW EXECUTE FUNCTION empty_entrant_field();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON entrant_field
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
