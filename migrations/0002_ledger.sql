-- The ledger made exact: creations whose outcome is not known, channels nobody here knows, quirks and who examines them,
-- reconciliations with their reports, and the audit log.

-- Channels ------------------------------------------------------------------------------------------------------------

-- A creation was asked of Apple then, and its outcome is not known yet: under way, unanswered, or its process died. Such
-- an intent is settled by its own call or from Apple's list, and never asked again before.
alter table channels add column called_at timestamptz;
alter table channels add check (called_at is null or state = 'creating');
-- A device may need the channel until then, whatever GRANDSTAND_RETIRE_AFTER says; null: none does.
alter table channels add column needed_until timestamptz;
-- What was under way under the earlier schema may have made a channel.
update channels set called_at = changed_at where state = 'creating' and attempts > 0;
create index channels_unsettled on channels (next_attempt_at) where called_at is not null;
create index channels_by_state on channels (bundle_id, environment, state);

-- With the event key: without statistics yet, the planner takes this index where it should take the primary key, and
-- then read every audience of the app for each channel.
drop index audiences_by_app;
create index audiences_by_app on audiences (bundle_id, environment, event_key);

-- Events whose organiser never sent an end.
create index events_open_ended on events (ends_at) where ended_at is null and cancelled_at is null;

-- Channels in Apple's list that the ledger does not know.
create table unmanaged_channels (
    bundle_id text not null,
    environment environment not null,
    channel_id text not null check (length(channel_id) between 1 and 1024),
    -- Null until Apple was asked.
    storage_policy storage_policy,
    first_seen_at timestamptz not null,
    primary key (bundle_id, environment, channel_id),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);

-- Reconciliations -----------------------------------------------------------------------------------------------------

create type reconciliation_alarm as enum ('capability-off', 'list-incomplete');

alter table app_environments
    -- How many channels Apple listed, and when.
    add column apple_count integer,
    add column apple_listed_at timestamptz,
    add column alarm reconciliation_alarm,
    -- The last run's end; a new app waits a whole interval.
    add column reconciled_at timestamptz not null default now(),
    -- Somebody needs a run at this time, whatever the interval.
    add column reconcile_at timestamptz,
    -- Runs that failed since the last that did not.
    add column reconcile_failures integer not null default 0,
    -- One run at a time, over all replicas.
    add column reconciling_by uuid,
    add column reconciling_until timestamptz;

create table reconciliations (
    id uuid primary key,
    bundle_id text not null,
    environment environment not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    -- The whole report as it was answered.
    report json not null,
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index reconciliations_listed on reconciliations (bundle_id, environment, started_at desc, id desc);

-- Quirks --------------------------------------------------------------------------------------------------------------

-- A row is a conclusion, or an examination under way (value is null), or both.
alter table quirks
    alter column value drop not null,
    alter column learned_at drop not null,
    alter column evidence drop not null,
    -- The conclusion is believed until then; after that it is examined again. Null: for good, an admin set it.
    add column believed_until timestamptz,
    add column examining_until timestamptz,
    add check ((value is null) = (learned_at is null) and (value is null) = (evidence is null));
update quirks set believed_until = learned_at + interval '7 days';

-- The audit log -------------------------------------------------------------------------------------------------------

create type audit_action as enum (
    'app.registered', 'app.changed', 'app.deleted', 'channel.created', 'channel.refused', 'channel.unanswered',
    'channel.adopted', 'channel.imported', 'channel.retired', 'channel.deleted', 'channel.missing', 'event.created',
    'event.changed', 'event.cancelled', 'event.expired', 'key.created', 'key.revoked', 'quirk.learned', 'quirk.set'
);

create table audit_log (
    id bigint primary key generated always as identity,
    at timestamptz not null,
    -- key:NAME, command-line, or grandstand for what the server does by itself.
    actor text not null,
    api_key uuid,
    action audit_action not null,
    bundle_id text,
    environment environment,
    channel uuid,
    channel_id text,
    event_key text,
    reason text,
    -- The key that signed the call to Apple, and what Apple answered.
    signing_key text,
    apns_status integer,
    apns_reason text,
    apns_request_id text
);
create index audit_log_by_app on audit_log (bundle_id, id);
create index audit_log_by_time on audit_log (at);

create function refuse_change_of_audit_log() returns trigger language plpgsql as $$
begin
    raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;
create trigger append_only before update or delete or truncate on audit_log
    for each statement execute function refuse_change_of_audit_log();
