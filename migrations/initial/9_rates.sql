-- Until when somebody's allowance is used up; not logged, as nothing is lost when it is lost.
CREATE UNLOGGED TABLE rate (
    key text NOT NULL,
    used_until timestamptz NOT NULL,
    CONSTRAINT pk_rate PRIMARY KEY (key)
);
