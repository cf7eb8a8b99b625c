-- Who signs in through an identity provider, and whose token that is. A row goes when its holder's name is erased.
CREATE TABLE identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    token_id integer NOT NULL,
    CONSTRAINT pk_identity PRIMARY KEY (issuer, subject),
    CONSTRAINT uq_identity_token_id UNIQUE (token_id),
    CONSTRAINT fk_identity_token_id FOREIGN KEY (token_id) REFERENCES token
);
