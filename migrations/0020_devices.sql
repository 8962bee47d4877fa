-- Phones: what apps register of them (installations, their tokens, what they follow, the activities they show), and the
-- starts that events send to those who follow.

alter type key_scope add value 'device' after 'lookup';
alter type audit_action add value 'start.requested' after 'event.expired';
alter type audit_action add value 'start.stopped' after 'start.requested';

-- A number for an app in an environment, so that millions of rows need not spell both.
alter table app_environments add column id integer not null generated always as identity unique;

-- One copy of an app on one device.
create table installations (
    id bigint primary key generated always as identity,
    app integer not null,
    installation uuid not null,
    secret_hash bytea not null check (length(secret_hash) = 32),
    -- The app's own count of its changes; null: it does not count.
    sequence bigint,
    -- 1000 times the major version, plus the minor.
    system_version integer not null,
    app_version text,
    locale text,
    time_zone text,
    live_activities_enabled boolean not null,
    frequent_pushes_enabled boolean not null,
    created_at timestamptz not null,
    -- To the day: a phone that registers what is known already writes a row once a day.
    seen_at timestamptz not null,
    unique (app, installation)
);
create index installations_by_sight on installations (seen_at);

-- Tokens that start an activity, one for each type of attributes.
create table start_tokens (
    installation bigint not null references installations on delete cascade,
    attributes_type text not null,
    app integer not null,
    token bytea not null check (length(token) between 1 and 512),
    registered_at timestamptz not null,
    -- APNs refused it in a way that may be our mistake (environment, topic): not used until it is registered again.
    suspect_since timestamptz,
    reason text,
    primary key (installation, attributes_type)
);
-- A token is one installation's: an app that was installed anew takes it over.
create unique index start_tokens_by_token on start_tokens (app, attributes_type, token);

create table follows (
    installation bigint not null references installations on delete cascade,
    topic text not null,
    app integer not null,
    primary key (installation, topic)
);
create index follows_by_topic on follows (app, topic, installation);

create type activity_state as enum ('active', 'stale', 'ended', 'dismissed');

-- Live Activities as their apps report them.
create table activities (
    id bigint primary key generated always as identity,
    installation bigint not null references installations on delete cascade,
    activity text not null,
    app integer not null,
    event_key text not null,
    attributes_type text not null,
    state activity_state not null,
    update_token bytea check (length(update_token) between 1 and 512),
    registered_at timestamptz,
    suspect_since timestamptz,
    reason text,
    channel_id text,
    -- Whether the event's updates go to its token: it is shown, has a token that is not suspect, and no channel.
    in_crowd boolean not null generated always as (
        update_token is not null and suspect_since is null and channel_id is null and state in ('active', 'stale')
    ) stored,
    reported_at timestamptz not null,
    -- Its installation was asked for receipts when it was reported first.
    is_sampled boolean not null,
    unique (installation, activity)
);
create index activities_in_crowds on activities (app, event_key, id) where in_crowd;
create index activities_of_events on activities (event_key);
create index activities_sampled on activities (event_key, app, installation) where is_sampled;
create index activities_by_report on activities (reported_at);

create type audience_delivery as enum ('channel', 'tokens');
alter table audiences add column delivery audience_delivery not null default 'channel';
-- Lookups say which.
drop trigger announce_lookup on audiences;
create trigger announce_lookup
    after insert or delete or update of event_key, bundle_id, environment, storage_policy, lane, delivery on audiences
    for each row execute function announce_audience();

alter table events add column topics text[] not null default '{}';

-- The push-to-start of an event, as declared.
create table event_starts (
    event_key text primary key references events on delete cascade,
    -- null: when the event starts.
    at timestamptz,
    -- null: when the event ends, else four hours after the start.
    until timestamptz,
    attributes_type text not null,
    attributes json not null,
    -- null: the newest content that was accepted.
    content_state json,
    alert json not null,
    alerts_by_locale json,
    stale_date bigint,
    -- null: all of the event's.
    audiences json,
    -- When somebody asked for it now, or stopped it.
    asked_at timestamptz,
    stopped_at timestamptz,
    -- When its runs are to be opened, or to be compared with what is declared now; null: they were.
    opens_at timestamptz
);
create index event_starts_opening on event_starts (opens_at) where opens_at is not null;

-- An event's start in one app and environment, from its opening on.
create table start_runs (
    id bigint primary key generated always as identity,
    event_key text not null references events on delete cascade,
    app integer not null,
    -- What the sweep is for: with other topics or another type of attributes it begins anew.
    topics text[] not null,
    attributes_type text not null,
    -- When a replica is to look at it, whatever is in its queue; null: never again. A time before the end of the lease
    -- means that somebody rang meanwhile.
    due_at timestamptz,
    leased_by uuid,
    leased_until timestamptz,
    opened_at timestamptz not null,
    -- The first push was made.
    started_at timestamptz,
    -- The last time nothing was left to send.
    finished_at timestamptz,
    -- Its time is over, or it was stopped: nobody gets a start any more.
    closed_at timestamptz,
    -- Followers up to this installation were looked at.
    cursor bigint not null default 0,
    -- All were.
    is_swept boolean not null default false,
    -- Installations whose pushes the replica with the lease is making: noted before the first of them leaves. If it
    -- dies, whoever is noted and has no row in starts may have got one.
    noted bigint[] not null default '{}',
    -- The counts of followers who get none, as they were when it was closed.
    followers integer,
    too_old integer,
    disabled integer,
    without_token integer,
    unique (event_key, app)
);
create index start_runs_due on start_runs (due_at) where due_at is not null;
create index start_runs_open on start_runs (app) where closed_at is null;

create type start_state as enum ('accepted', 'rejected', 'unknown');

-- Who got a start, or may have: never another one. No foreign key: it would ask for the one row of the run a million
-- times; what is deleted with the run a trigger deletes.
create table starts (
    run bigint not null,
    installation bigint not null,
    state start_state not null,
    reason text,
    at timestamptz not null,
    -- The app reported the activity.
    confirmed_at timestamptz,
    primary key (run, installation)
);

-- Followers the sweep does not come to: late ones, and those whose push APNs provably did not process.
create table start_queue (
    run bigint not null,
    installation bigint not null,
    attempts integer not null default 0,
    due_at timestamptz not null,
    -- In this order: for what is due of a run there is one index only.
    primary key (installation, run)
);
create index start_queue_due on start_queue (run, due_at);

create function forget_starts() returns trigger language plpgsql as $$
begin
    delete from starts where run in (select id from gone);
    delete from start_queue where run in (select id from gone);
    return null;
end
$$;
create trigger forget_starts after delete on start_runs referencing old table as gone
    for each statement execute function forget_starts();

-- What APNs said of device tokens lately, in minutes: many refusals at once are a mistake of ours.
create table token_answers (
    app integer not null,
    minute timestamptz not null,
    accepted integer not null default 0,
    -- BadDeviceToken and DeviceTokenNotForTopic.
    suspect integer not null default 0,
    reason text,
    primary key (app, minute)
);

-- What a sampled installation showed, and when: by its own clock, corrected by clock_ahead where that is known.
create table receipts (
    event_key text not null references events on delete cascade,
    app integer not null,
    installation bigint not null,
    apns_timestamp bigint not null,
    shown_at timestamptz not null,
    -- Seconds by which its clock was ahead of ours; null: not known.
    clock_ahead double precision,
    received_at timestamptz not null,
    primary key (event_key, app, installation, apns_timestamp)
);
create index receipts_by_time on receipts (received_at);
