-- Who wrote what, or was refused: a row is added in the transaction of what it tells of. When it happened and its salts
-- are the database's own; of an address a salted digest stays, which says nothing once that salt is emptied with it.
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
    salt bytea DEFAULT uuid_send(gen_random_uuid()) NOT NULL,
    address_salt bytea,
    address_digest bytea,
    CONSTRAINT pk_audit_event PRIMARY KEY (id),
    CONSTRAINT ck_audit_event_address_until CHECK (address IS NULL OR address_until IS NOT NULL),
    CONSTRAINT fk_audit_event_token_id FOREIGN KEY (token_id) REFERENCES token
);
CREATE INDEX ix_audit_event_benchmark ON audit_event (benchmark, id) WHERE benchmark IS NOT NULL;
CREATE INDEX ix_audit_event_token_id ON audit_event (token_id, id) WHERE token_id IS NOT NULL;
CREATE INDEX ix_audit_event_address_until ON audit_event (address_until) WHERE address IS NOT NULL;

CREATE FUNCTION fill_audit_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    NEW.salt := uuid_send(gen_random_uuid());
    NEW.address_salt := CASE WHEN NEW.address IS NOT NULL THEN uuid_send(gen_random_uuid()) END;
    NEW.address_digest := sha256(NEW.address_salt || convert_to(NEW.address, 'UTF8'));
    RETURN NEW;
END $$;
CREATE TRIGGER fill BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fill_audit_event();

-- The one change that is let through empties an address whose time is over, and what it was salted with.
CREATE FUNCTION refuse_tampering() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.address IS NULL AND NEW.address_salt IS NULL AND OLD.address_until <= clock_timestamp()
        AND to_jsonb(NEW) - 'address' - 'address_salt' = to_jsonb(OLD) - 'address' - 'address_salt' THEN
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

-- Which events no seal covers yet: what a seal takes is what is committed by then, whatever its number.
CREATE TABLE audit_unsealed (
    event_id bigint NOT NULL,
    CONSTRAINT pk_audit_unsealed PRIMARY KEY (event_id)
);
-- By the owner's right, so that nobody who writes an event can leave it out.
CREATE FUNCTION await_seal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO audit_unsealed SELECT id FROM added;
    RETURN NULL;
END $$;
CREATE TRIGGER await_seal AFTER INSERT ON audit_event REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION await_seal();

-- A batch of events and the seal before it, under one digest: `leaves` are 32 bytes for each of `events`.
CREATE TABLE audit_seal (
    number integer NOT NULL,
    at timestamptz NOT NULL,
    events bigint[] NOT NULL,
    leaves bytea NOT NULL,
    previous bytea,
    digest bytea NOT NULL,
    CONSTRAINT pk_audit_seal PRIMARY KEY (number),
    CONSTRAINT ck_audit_seal_leaves CHECK (octet_length(leaves) = 32 * cardinality(events))
);
CREATE FUNCTION follow_last_seal() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    last record;
BEGIN
    SELECT number, digest INTO last FROM audit_seal ORDER BY number DESC LIMIT 1;
    IF NEW.number <> coalesce(last.number, 0) + 1 OR NEW.previous IS DISTINCT FROM last.digest
        OR NEW.at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() THEN
        RAISE EXCEPTION 'audit_seal is a chain: a seal follows the last one, and is of now'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER follow BEFORE INSERT ON audit_seal FOR EACH ROW EXECUTE FUNCTION follow_last_seal();
