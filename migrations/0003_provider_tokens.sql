-- The provider token that all replicas send: APNs counts how often a team's token changes, and a signature made again
-- is another token (ECDSA).

create table provider_tokens (
    team_id text not null,
    key_id text not null,
    -- SHA-256 of the public key: a replica whose key file differs does not share.
    fingerprint bytea not null check (length(fingerprint) = 32),
    -- The claim iat, in seconds since 1970: exactly what APNs reads, not what the database's clock says.
    issued_at bigint not null,
    -- A secret for an hour after its issue.
    token text not null,
    primary key (team_id, key_id, fingerprint)
);
