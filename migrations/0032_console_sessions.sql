-- Who is signed in to the console.

create table console_sessions (
    -- SHA-256 of what the browser has.
    id bytea primary key check (octet_length(id) = 32),
    key uuid not null references api_keys on delete cascade,
    started_at timestamptz not null,
    used_at timestamptz not null
);
create index console_sessions_by_key on console_sessions (key);
create index console_sessions_by_start on console_sessions (started_at);
create index console_sessions_by_use on console_sessions (used_at);
