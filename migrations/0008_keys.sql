-- Keys: they expire, are replaced with an overlap, and show when they were last used.

alter table api_keys add column expires_at timestamptz;
-- The key that took this one's place; this one expires when the overlap is over.
alter table api_keys add column replaced_by uuid references api_keys on delete set null;
create index api_keys_by_time on api_keys (created_at desc, id desc);
alter type audit_action add value 'key.rotated' after 'key.revoked';

-- A table of its own: who changes api_keys tells every replica, and a key in use is no change.
create table api_key_uses (
    key uuid primary key references api_keys on delete cascade,
    used_at timestamptz not null
);

-- Idempotency: the first answer to a POST, kept for whoever repeats it ------------------------------------------------

create table idempotency_keys (
    -- SHA-256 of the caller's API key and its Idempotency-Key.
    id bytea primary key check (length(id) = 32),
    -- SHA-256 of method, path and body.
    fingerprint bytea not null check (length(fingerprint) = 32),
    accepted_at timestamptz not null,
    -- For work in several steps: until then one worker has it.
    leased_until timestamptz,
    -- What such work began to make.
    resource uuid,
    -- Sealed with the caller's secret, which is not here; null while the work is not done.
    answer bytea
);
create index idempotency_keys_by_time on idempotency_keys (accepted_at);

-- Keys in memory know when theirs is over.
drop trigger announce_keys on api_keys;
create trigger announce_keys
    after insert or delete or update of name, secret_hash, scopes, bundle_id, revoked_at, expires_at on api_keys
    for each statement execute function announce_subject('keys');
