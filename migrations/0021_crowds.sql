-- Crowds: activities that have a token and no channel, as lanes whose messages go out in shards.

create type lane_kind as enum (
    'channel',
    -- The activities of an event in one app and environment.
    'crowd',
    -- Of those, the ones of people who switched frequent pushes off.
    'infrequent',
    -- One token of a team's own.
    'token'
);

alter table lanes
    add column kind lane_kind not null default 'channel',
    -- When a crowd's next shard is due; due_at is for what goes as one request.
    add column shard_due_at timestamptz,
    add check (kind in ('crowd', 'infrequent') or shard_due_at is null),
    add check (kind in ('channel', 'token') or due_at is null);
create index lanes_with_shards on lanes (environment, shard_due_at) where shard_due_at is not null;

-- Which crowd a lane is.
create table crowds (
    lane bigint primary key references lanes on delete cascade,
    event_key text not null references events on delete cascade,
    app integer not null,
    kind lane_kind not null check (kind in ('crowd', 'infrequent')),
    unique (event_key, app, kind)
);

-- Every lane that an event's broadcasts go to: its audiences' in their order, then the crowds. The lane of an audience that
-- is reached by tokens only takes no messages; its crowd's does.
create view event_lanes as
    select event_key, bundle_id, environment, lane, position from audiences where delivery = 'channel'
    union all
    select c.event_key, ae.bundle_id, ae.environment, c.lane, 1000000
    from crowds c join app_environments ae on ae.id = c.app;

-- How far a crowd's message has got (FanOut).
alter table deliveries add column fan_out json;

-- Whose the activity is decides in which of the two crowds it is.
alter table activities add column frequent boolean not null default true;
drop index activities_in_crowds;
create index activities_in_crowds on activities (app, event_key, frequent, id) where in_crowd;

-- Activities whose token came when the newest content had gone already: they get it by itself.
create table crowd_joins (
    activity bigint primary key references activities on delete cascade,
    lane bigint not null references lanes on delete cascade,
    due_at timestamptz not null
);
create index crowd_joins_due on crowd_joins (due_at);
