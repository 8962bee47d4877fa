-- The words of the domain. Each type lists what the Swift enum of the same name lists; a test compares the two.

create type environment as enum ('development', 'production');
create type storage_policy as enum ('noMessageStored', 'mostRecentMessageStored');
create type channel_state as enum ('creating', 'active', 'retiring', 'deleting', 'deleted', 'missing', 'failed');
create type broadcast_event as enum ('update', 'end');
create type delivery_state as enum
    ('waiting', 'queued', 'sending', 'accepted', 'superseded', 'expired', 'rejected', 'cancelled');
create type key_scope as enum ('lookup', 'organise', 'operate', 'admin');

-- Apps ---------------------------------------------------------------------------------------------------------------

create table apps (
    bundle_id text primary key check (bundle_id ~ '^[A-Za-z0-9.-]{1,155}$'),
    -- Two bundle IDs that differ only in case cannot both exist.
    topic text not null unique generated always as (lower(bundle_id)) stored,
    name text not null,
    team_id text not null check (team_id ~ '^[A-Za-z0-9]{10}$'),
    key_id text not null check (key_id ~ '^[A-Za-z0-9]{10}$'),
    channel_limit integer not null check (channel_limit between 1 and 10000),
    created_at timestamptz not null,
    updated_at timestamptz not null
);

-- One row for each app and environment: what differs there, and the lock that makes the quota exact.
create table app_environments (
    bundle_id text not null references apps on delete cascade,
    environment environment not null,
    team_id text check (team_id ~ '^[A-Za-z0-9]{10}$'),
    key_id text check (key_id ~ '^[A-Za-z0-9]{10}$'),
    primary key (bundle_id, environment)
);

create table quirks (
    bundle_id text not null,
    environment environment not null,
    name text not null,
    value text not null,
    learned_at timestamptz not null,
    evidence text not null,
    primary key (bundle_id, environment, name),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);

create table api_keys (
    id uuid primary key,
    name text not null,
    -- SHA-256 of the secret, which has 256 random bits: nothing slower is needed to keep it from being guessed.
    secret_hash bytea not null unique check (length(secret_hash) = 32),
    prefix text not null,
    scopes key_scope[] not null check (cardinality(scopes) > 0),
    bundle_id text references apps on delete cascade,
    created_at timestamptz not null,
    revoked_at timestamptz
);

-- Events: what should be ---------------------------------------------------------------------------------------------

create table events (
    key text primary key check (key ~ '^[A-Za-z0-9._:-]{1,128}$'),
    name text not null,
    kind text,
    starts_at timestamptz,
    ends_at timestamptz,
    channels_open_at timestamptz,
    metadata json,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    first_update_at timestamptz,
    ended_at timestamptz,
    cancelled_at timestamptz
);
create index events_by_creation on events (created_at, key);

-- Channels: what is --------------------------------------------------------------------------------------------------

create table channels (
    id uuid primary key,
    bundle_id text not null,
    environment environment not null,
    channel_id text check (length(channel_id) between 1 and 1024),
    storage_policy storage_policy not null,
    state channel_state not null,
    event_key text references events on delete set null,
    label text,
    reason text,
    attempts integer not null default 0,
    next_attempt_at timestamptz,
    leased_until timestamptz,
    retire_at timestamptz,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    foreign key (bundle_id, environment) references app_environments on delete cascade,
    check (state in ('creating', 'failed', 'deleted') or channel_id is not null),
    check (state <> 'retiring' or retire_at is not null)
);
create unique index channels_apple_id on channels (bundle_id, environment, channel_id) where channel_id is not null;
-- An audience has one channel; one on its way out does not count.
create unique index channels_one_per_audience on channels (event_key, bundle_id, environment)
    where event_key is not null and state in ('creating', 'active', 'failed', 'missing');
create index channels_by_event on channels (event_key, bundle_id, environment, created_at) where event_key is not null;
create index channels_listed on channels (bundle_id, environment, created_at, id);
create index channels_due on channels (next_attempt_at) where next_attempt_at is not null;

-- Lanes: the ordered, newest-wins way to one channel ------------------------------------------------------------------
-- Every change of a lane's deliveries happens under the lane's row lock.

create table lanes (
    id bigint primary key generated always as identity,
    bundle_id text not null,
    environment environment not null,
    storage_policy storage_policy not null,
    -- Where it sends; null until the channel exists.
    channel uuid references channels on delete set null,
    -- When it wants attention; null: nothing waits. While leased: when the lease ends, so that a dead replica's lanes
    -- become due by themselves.
    due_at timestamptz,
    leased_by uuid,
    leased_until timestamptz,
    -- The last aps.timestamp given: the next one is greater.
    last_timestamp bigint not null default 0,
    -- The lane interval: nothing new is sent before.
    ready_at timestamptz,
    -- An end was accepted: nothing follows it.
    fenced_at timestamptz,
    -- The event was cancelled or the audience removed: not even what was accepted is sent.
    closed_at timestamptz,
    -- The newest accepted content, for apps that start an activity now.
    newest_broadcast uuid,
    foreign key (bundle_id, environment) references app_environments on delete cascade
) with (fillfactor = 70);
create index lanes_due on lanes (due_at) where due_at is not null;
create index lanes_by_channel on lanes (channel) where channel is not null;

create table audiences (
    event_key text not null references events on delete cascade,
    bundle_id text not null,
    environment environment not null,
    storage_policy storage_policy not null,
    position integer not null,
    lane bigint not null unique references lanes,
    primary key (event_key, bundle_id, environment),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index audiences_by_app on audiences (bundle_id, environment);

-- Broadcasts and their deliveries ------------------------------------------------------------------------------------

create table broadcasts (
    id uuid primary key,
    event_key text references events on delete cascade,
    event broadcast_event not null,
    -- json, not jsonb: the text stays as it was written.
    content_state json,
    alert json,
    stale_date bigint,
    dismissal_date bigint,
    relevance_score json,
    -- As requested; null where the server chose.
    priority smallint check (priority in (1, 5, 10)),
    expires_in integer,
    apns_expiration bigint,
    -- [{"bundleId", "environment"}], null: all of the event's.
    audiences json,
    warnings text[] not null default '{}',
    accepted_at timestamptz not null,
    send_at timestamptz,
    -- While true it has no deliveries.
    scheduled boolean not null default false
);
create index broadcasts_by_event on broadcasts (event_key, accepted_at desc, id desc);
create index broadcasts_scheduled on broadcasts (send_at) where scheduled;

create table deliveries (
    -- The order within a lane.
    id bigint primary key generated always as identity,
    broadcast_id uuid not null references broadcasts on delete cascade,
    lane bigint not null references lanes on delete cascade,
    state delivery_state not null,
    is_end boolean not null,
    alerting boolean not null,
    priority smallint not null check (priority in (1, 5, 10)),
    apns_expiration bigint not null,
    expires_at timestamptz not null,
    attempts integer not null default 0,
    next_attempt_at timestamptz,
    apns_timestamp bigint,
    apns_request_id uuid not null,
    apns_unique_id text,
    channel_id text,
    reason text,
    settled_at timestamptz,
    check ((state in ('waiting', 'queued', 'sending')) = (settled_at is null))
) with (fillfactor = 80);
-- The hot index: only what is not settled.
create index deliveries_pending on deliveries (lane, id) where state in ('waiting', 'queued', 'sending');
create index deliveries_by_broadcast on deliveries (broadcast_id);
