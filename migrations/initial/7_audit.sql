-- Who wrote what, or was refused: a row is added in the transaction of what it tells of.
CREATE TABLE audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    benchmark text,
    token_id integer,
    session_id integer,
    address text,
    address_until timestamptz,
    status smallint,
    refusal text,
    before jsonb,
    after jsonb,
    reason text,
    CONSTRAINT pk_audit_event PRIMARY KEY (id),
    CONSTRAINT ck_audit_event_address_until CHECK (address IS NULL OR address_until IS NOT NULL),
    CONSTRAINT fk_audit_event_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_audit_event_benchmark ON audit_event (benchmark, id) WHERE benchmark IS NOT NULL;
CREATE INDEX ix_audit_event_token_id ON audit_event (token_id, id) WHERE token_id IS NOT NULL;
CREATE INDEX ix_audit_event_address_until ON audit_event (address_until) WHERE address IS NOT NULL;

-- The one change that is let through empties an address whose time is over.
CREATE FUNCTION refuse_tampering() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.address IS NULL AND OLD.address_until <= clock_timestamp()
        AND to_jsonb(NEW) - 'address' = to_jsonb(OLD) - 'address' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'audit_event is a record: only an address is emptied, after its time'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is a record: its rows are never removed', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_history BEFORE UPDATE ON audit_event FOR EACH ROW EXECUTE FUNCTION refuse_tampering();
CREATE TRIGGER keep_rows BEFORE DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
