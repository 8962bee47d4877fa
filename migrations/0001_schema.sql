-- The schema of Grandstand, in sections: types, apps and keys, events and channels, audiences and broadcasts, devices and
-- starts, lookups, webhooks, operations. Each table begins with what a row is and who writes it.
--
-- Every statement here runs once, in one transaction, on an empty database. Later changes are further migrations
-- (0002_….sql). They only add, because older builds still run. A migration that takes something away must say which
-- builds may still use the database (scripts/check-migrations).

-- Types -----------------------------------------------------------------------------------------------------------------
-- Each type lists the cases of the Swift enum of the same name; a test compares the two.

create type environment as enum ('development', 'production');
create type storage_policy as enum ('noMessageStored', 'mostRecentMessageStored');
create type key_scope as enum ('lookup', 'device', 'organise', 'operate', 'admin');
create type audience_delivery as enum ('channel', 'tokens');
create type channel_state as enum ('creating', 'active', 'retiring', 'deleting', 'deleted', 'missing', 'failed');
create type reconciliation_alarm as enum ('capability-off', 'list-incomplete', 'ambiguous-creation');
create type broadcast_event as enum ('update', 'end');
create type delivery_state as enum (
    'waiting', 'queued', 'sending', 'accepted', 'superseded', 'expired', 'rejected', 'cancelled');
create type state_outcome as enum ('unchanged', 'quiet', 'update', 'rings', 'end');
create type activity_state as enum ('active', 'stale', 'ended', 'dismissed');
create type start_state as enum ('pending', 'sending', 'accepted', 'rejected', 'unknown');
create type webhook_state as enum ('enabled', 'disabled');
create type webhook_delivery_state as enum ('queued', 'sending', 'delivered', 'failed', 'cancelled');
create type webhook_topic as enum (
    'broadcast.settled', 'event.state', 'channel.missing', 'channel.replaced', 'quota.level', 'reconciliation.found',
    'capability.off', 'throttle.began', 'throttle.ended', 'webhook.test');
create type audit_action as enum (
    'app.registered', 'app.changed', 'app.deleted',
    'content.created', 'content.changed', 'content.deleted',
    'channel.created', 'channel.refused', 'channel.unanswered', 'channel.adopted', 'channel.imported', 'channel.retired',
    'channel.deleted', 'channel.missing', 'channel.released',
    'event.created', 'event.changed', 'event.cancelled', 'event.reopened', 'event.expired',
    'start.requested', 'start.stopped',
    'key.created', 'key.revoked', 'key.rotated',
    'quirk.learned',
    'webhook.created', 'webhook.changed', 'webhook.deleted', 'webhook.rotated', 'webhook.disabled',
    'broadcast.accepted', 'broadcast.withdrawn',
    'audit.pruned');

-- Versions of the resources that people declare, for ETag and If-Match. One sequence serves all tables, so no version
-- is used twice, not even by a row that was deleted and made again. Statements that write declarations take the next
-- value.
create sequence resource_versions;

-- Apps and keys -----------------------------------------------------------------------------------------------------------

-- An iOS app, as its admin registered it. Written by PUT and DELETE of an app. Removed by the loop that deletes its history.
create table apps (
    bundle_id text primary key check (bundle_id ~ '^[A-Za-z0-9.-]{1,155}$'),
    -- Two bundle IDs that differ only in case cannot both exist.
    topic text not null generated always as (lower(bundle_id)) stored unique,
    name text not null,
    team_id text not null check (team_id ~ '^[A-Za-z0-9]{10}$'),
    key_id text not null check (key_id ~ '^[A-Za-z0-9]{10}$'),
    channel_limit integer not null check (channel_limit between 1 and 10000),
    -- Mustache templates: how the console shows a contentState on a lock screen.
    preview_compact text check (octet_length(preview_compact) between 1 and 2000),
    preview_expanded text check (octet_length(preview_expanded) between 1 and 2000),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    version bigint not null default nextval('resource_versions')
);

-- What each app version can decode in the contents of one activity type, and which changes of a state make phones
-- ring. Written by PUT and DELETE of a content type.
create table content_types (
    bundle_id text not null references apps on delete cascade,
    attributes_type text not null check (length(attributes_type) between 1 and 128),
    -- The content type as it was declared: check, versions, rules.
    declaration json not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    version bigint not null default nextval('resource_versions'),
    primary key (bundle_id, attributes_type)
);

-- An app in one environment: its own team and key if they differ from the app's, and the state of its reconciliations.
-- Whoever takes a place of the quota locks this row, so that the quota is exact. Written with the app, and by
-- reconciliations.
create table app_environments (
    bundle_id text not null references apps on delete cascade,
    environment environment not null,
    -- A short name for the app and environment, for tables with millions of rows.
    id integer not null generated always as identity unique,
    -- An admin deleted the app: its history is being removed, and nobody can use it any more.
    deleting_since timestamptz,
    team_id text check (team_id ~ '^[A-Za-z0-9]{10}$'),
    key_id text check (key_id ~ '^[A-Za-z0-9]{10}$'),
    -- How many channels Apple listed, and when Apple was asked for the list; a channel that is not in the list did not
    -- exist at that time.
    apple_count integer,
    apple_asked_at timestamptz,
    alarm reconciliation_alarm,
    -- Since when Apple refuses to create channels because the app has reached Apple's limit; null: Apple is not known
    -- to refuse them. Before full_until no creation is tried. Written with the outcome of creations and deletions.
    full_since timestamptz,
    full_until timestamptz,
    -- How APNs differs from its documentation for the app: by name, an object with value, learned_at and evidence. A
    -- difference holds until an answer says otherwise. Written by the calls that find it.
    quirks jsonb not null default '{}',
    -- The team and key (TEAM/KEY) whose provider tokens APNs refuses, Apple's newest reason, and the time of the first
    -- refusal. Another key of the app is not refused. Written by the replicas that send with the key.
    key_refused text,
    key_refused_reason text,
    key_refused_since timestamptz,
    -- When a replica that sends last said that it lacks the app's key file, or cannot read it.
    key_missing_at timestamptz,
    -- Since when broadcasts fail or wait and APNs accepts none, and when a replica last saw this. Written by the replicas
    -- that send, about every two seconds.
    unaccepted_since timestamptz,
    unaccepted_at timestamptz,
    -- While APNs throttles the app's broadcasts, or its pushes to devices: since when, and when a limited replica last
    -- said so. Written by the limited replicas, together about every ten seconds.
    throttled_since timestamptz,
    throttled_at timestamptz,
    devices_throttled_since timestamptz,
    devices_throttled_at timestamptz,
    -- The quota's level that the last message to webhooks reported.
    quota_level text not null default 'ok' check (quota_level in ('ok', 'warning', 'critical')),
    -- The end of the last reconciliation (run). A new app waits a whole interval for its first one.
    reconciled_at timestamptz not null default now(),
    -- A run is wanted at this time, whatever the interval is.
    reconcile_at timestamptz,
    -- The lease of the run: over all replicas, one run at a time.
    reconciling_by uuid,
    reconciling_until timestamptz,
    primary key (bundle_id, environment)
);

-- An API key. Written by the commands and calls about keys.
create table api_keys (
    id uuid primary key,
    name text not null,
    -- SHA-256 of the secret. The secret has 256 random bits, so a slower hash would not help.
    secret_hash bytea not null unique check (length(secret_hash) = 32),
    prefix text not null,
    scopes key_scope[] not null check (cardinality(scopes) > 0),
    -- The apps that the key may see and change; null: all apps.
    apps text[],
    -- The key may see and change only events whose keys begin with this prefix; null: all events. An API key that is
    -- bound to apps and has no prefix cannot declare an event whose key begins with the prefix of another API key.
    event_key_prefix text check (event_key_prefix ~ '^[A-Za-z0-9._:-]{1,128}$'),
    created_at timestamptz not null,
    revoked_at timestamptz,
    expires_at timestamptz,
    -- The key that replaced this one. This one expires when the overlap is over.
    replaced_by uuid references api_keys on delete set null,
    -- When the key was last used. The trigger announce_keys ignores this column, because a use changes nothing that
    -- other replicas need.
    used_at timestamptz
);

-- A person who is signed in to the console. Written by signing in, by use, and by signing out.
create table console_sessions (
    -- SHA-256 of the cookie.
    id bytea primary key check (octet_length(id) = 32),
    key uuid not null references api_keys on delete cascade,
    started_at timestamptz not null,
    used_at timestamptz not null,
    -- A sentence about the action that was performed just before, for the next page.
    notice text
);

-- The first answer to a request with an Idempotency-Key, for repetitions of it. Written by that request.
create table idempotency_keys (
    -- SHA-256 of the caller's API key and of the request's Idempotency-Key.
    id bytea primary key check (length(id) = 32),
    -- SHA-256 of method, path and body.
    fingerprint bytea not null check (length(fingerprint) = 32),
    accepted_at timestamptz not null,
    -- For work in several steps: the ID of the resource that the work began to make.
    resource uuid,
    -- The answer's HTTP status, and its body without a secret. null while the work is not done.
    status integer,
    body bytea,
    check ((status is null) = (body is null))
);
create index idempotency_keys_by_time on idempotency_keys (accepted_at);

-- Who did what, and Apple's answer. Rows are only added; prune_audit_log is the one way to remove old ones. Written in the
-- transaction of each change.
create table audit_log (
    id bigint generated always as identity primary key,
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
    broadcast uuid,
    reason text,
    -- The key that signed the call to Apple.
    signing_key text,
    apns_status integer,
    apns_reason text,
    apns_request_id text
);
create index audit_log_by_time on audit_log (at);
create index audit_log_by_app on audit_log (bundle_id, id);
create index audit_log_of_channels on audit_log (at) where action in ('channel.created', 'channel.deleted');
create index audit_log_by_event on audit_log (event_key, id) where event_key is not null;

-- Removes at most `most` entries from before `before`, oldest first, and adds one entry with their number and their
-- times. Entries of the last 30 days stay.
create function prune_audit_log(before timestamptz, most integer, at timestamptz) returns bigint language plpgsql as $$
declare
    pruned record;
begin
    if before > now() - interval '30 days' then
        raise exception 'the audit log keeps 30 days at least' using errcode = 'restrict_violation';
    end if;
    perform set_config('grandstand.prunes_audit_log', pg_current_xact_id()::text, true);
    with gone as (
        delete from audit_log where id = any(array(
            select a.id from audit_log a where a.at < prune_audit_log.before order by a.at limit most))
        returning audit_log.at
    )
    select count(*) as entries, min(gone.at) as oldest, max(gone.at) as newest into pruned from gone;
    perform set_config('grandstand.prunes_audit_log', '', true);
    if pruned.entries > 0 then
        insert into audit_log (at, actor, action, reason)
        values (prune_audit_log.at, 'grandstand', 'audit.pruned', format('%s entries from %s to %s', pruned.entries,
            to_char(pruned.oldest at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            to_char(pruned.newest at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')));
    end if;
    return pruned.entries;
end
$$;

create function refuse_change_of_audit_log() returns trigger language plpgsql as $$
begin
    -- prune_audit_log sets grandstand.prunes_audit_log for its own transaction.
    if tg_op = 'DELETE' and current_setting('grandstand.prunes_audit_log', true) = pg_current_xact_id()::text then
        return null;
    end if;
    raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;

create trigger append_only before delete or update or truncate on audit_log
    for each statement execute function refuse_change_of_audit_log();

-- Events and channels ---------------------------------------------------------------------------------------------------

-- What people follow: a match, a game, a flight. Written by PUT, PATCH and DELETE of an event, by its broadcasts, and by the
-- loop that closes events that are over.
create table events (
    key text primary key check (key ~ '^[A-Za-z0-9._:-]{1,128}$'),
    name text not null,
    kind text,
    topics text[] not null default '{}',
    starts_at timestamptz,
    ends_at timestamptz,
    channels_open_at timestamptz,
    -- Seconds before starts_at, as declared; channels_open_at has the resulting time.
    channels_open_before integer check (channels_open_before >= 0),
    -- The defaults of the event's messages.
    defaults json,
    -- The content type of the event's audiences that name none.
    content text,
    metadata json,
    -- The value of metadata.season.name, for lists.
    season text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    first_update_at timestamptz,
    ended_at timestamptz,
    -- Set with ended_at if the server closed the event because no end came.
    expired_at timestamptz,
    cancelled_at timestamptz,
    reopened_at timestamptz,
    -- The sequence and the sequenceEpoch of the event's last state, and the time when the event's newest quiet message is
    -- or was sent.
    state_sequence bigint,
    state_epoch bigint not null default 0,
    quiet_at timestamptz,
    version bigint not null default nextval('resource_versions')
);
create index events_by_creation on events (created_at, key);
create index events_by_season on events (season, created_at, key) where season is not null;
create index events_open_ended on events (ends_at) where ended_at is null and cancelled_at is null;
create index events_opening on events (channels_open_at)
    where channels_open_at is not null and ended_at is null and cancelled_at is null;
-- Events that are over, in the order in which they are deleted. A cancelled event stays until its planned times are
-- over.
create index events_over on events (greatest(ended_at, cancelled_at, starts_at, ends_at))
    where ended_at is not null or cancelled_at is not null;

-- A channel that is wanted, or that Apple has or had: the ledger. `creating` with `called_at` means that Apple was
-- asked and the outcome is not known. Such a row is settled by its own call or by Apple's list; Apple is not asked
-- again before the row is settled. Written by the provisioner, by reconciliations and by the calls about channels.
create table channels (
    id uuid primary key,
    bundle_id text not null,
    environment environment not null,
    -- The channel's ID at Apple.
    channel_id text check (length(channel_id) between 1 and 1024),
    storage_policy storage_policy not null,
    state channel_state not null,
    event_key text references events on delete set null,
    -- Which of the event's audiences the channel is for.
    variant text not null default '',
    label text,
    reason text,
    attempts integer not null default 0,
    -- When Apple is called. While a call is made, this is the end of its lease.
    next_attempt_at timestamptz,
    called_at timestamptz,
    -- A device may need the channel until this time, whatever GRANDSTAND_RETIRE_AFTER says.
    needed_until timestamptz,
    -- When Apple refused a message with the reason that it does not know the channel. A reconciliation checks whether
    -- the channel exists, but not before examine_at, which the last check set.
    doubted_at timestamptz,
    examine_at timestamptz,
    -- Whether Apple confirmed the deletion, or answered that it does not know the channel.
    deletion_confirmed boolean not null default false,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    foreign key (bundle_id, environment) references app_environments on delete cascade,
    check (state in ('creating', 'failed', 'deleted') or channel_id is not null),
    check (state <> 'retiring' or next_attempt_at is not null),
    check (called_at is null or state = 'creating'),
    check (doubted_at is null or examine_at is not null)
);
create unique index channels_apple_id on channels (bundle_id, environment, channel_id) where channel_id is not null;
-- This index has all columns that name an audience. No other index has as many of the columns by which an audience's
-- channel is read. So even with statistics of an empty table the planner chooses this one, and not an index that finds
-- every channel of the app.
create index channels_by_event on channels (event_key, bundle_id, environment, variant, storage_policy, created_at)
    where event_key is not null;
-- An audience has at most one channel; one that is retiring, deleting or deleted does not count.
create unique index channels_one_per_audience on channels (event_key, bundle_id, environment, variant)
    where event_key is not null and state in ('creating', 'active', 'failed', 'missing');
create index channels_listed on channels (bundle_id, environment, created_at, id);
create index channels_live on channels (state, bundle_id, environment) where state <> 'deleted';
create index channels_deleted on channels (changed_at) where state = 'deleted';
create index channels_due on channels (next_attempt_at) where next_attempt_at is not null;
create index channels_unsettled on channels (next_attempt_at) where called_at is not null;
create index channels_doubted on channels (bundle_id, environment, examine_at) where doubted_at is not null;

-- A channel in Apple's list that the ledger does not know. Written by reconciliations.
create table unmanaged_channels (
    bundle_id text not null,
    environment environment not null,
    channel_id text not null check (length(channel_id) between 1 and 1024),
    first_seen_at timestamptz not null,
    -- When Apple was asked for the last list that lacked the channel; null: no such list was read before the channel
    -- was first seen, or the channel once was in the ledger.
    lacked_at timestamptz,
    -- Whether the channel's origin is not certain: an unanswered creation or another system may have made it.
    contested boolean not null default false,
    primary key (bundle_id, environment, channel_id),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);

-- A finished comparison of Apple's list with the ledger. Written once, by its run.
create table reconciliations (
    id uuid primary key,
    bundle_id text not null,
    environment environment not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    -- The whole report, as the API returns it.
    report json not null,
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index reconciliations_listed on reconciliations (bundle_id, environment, started_at desc, id desc);

-- An app's use of its quota in the `step` seconds that end at `at`. Written by the loop of the gauges, every five
-- minutes: the five minutes' row, and that of the present hour.
create table quota_samples (
    bundle_id text not null,
    environment environment not null,
    step integer not null check (step in (300, 3600)),
    at timestamptz not null,
    used integer not null,
    reserved integer not null,
    -- The most places taken at once, in the samples of these seconds.
    peak integer not null,
    channel_limit integer not null,
    -- Channels that were created and deleted in these seconds.
    created integer not null,
    deleted integer not null,
    primary key (bundle_id, environment, step, at),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index quota_samples_by_age on quota_samples (step, at);

-- Audiences and broadcasts ----------------------------------------------------------------------------------------------

-- An audience of an event: one app, environment and variant, in the order of the declaration. A channel without an event
-- is an audience without an event, and so is a removed audience until its messages and its channel are old.
--
-- The row is also the audience's lane: its messages in order, of which newer state supersedes older (the Swift value
-- Lane). Every change of a lane's deliveries happens under the row's lock. Written with its event, by acceptance, claim
-- and settlement, and by changes of the channel.
create table audiences (
    lane bigint generated always as identity primary key,
    event_key text references events on delete cascade,
    bundle_id text not null,
    environment environment not null,
    -- '': the audience without a variant.
    variant text not null default '' check (variant ~ '^[A-Za-z0-9._:-]{0,32}$'),
    position integer not null default 0,
    storage_policy storage_policy not null,
    delivery audience_delivery not null default 'channel',
    -- The priority of the audience's messages if a broadcast gives none.
    priority smallint check (priority in (1, 5, 10)),
    -- The content type of the audience's messages; null: the event's content type, or, if the event has none, the app's
    -- oldest content type.
    content text,
    -- Whether the event's start, if it declares one, is for this audience.
    starts boolean not null default true,
    -- The channel to which the messages go; null: the channel does not exist yet, or the audience needs none.
    channel uuid references channels on delete set null,
    -- When a dispatcher must look at the lane. null: nothing waits, or a message is under way. When the lease of a
    -- message that is under way ends, the lane is found by this message (index deliveries_under_way).
    due_at timestamptz,
    -- The lane's place among the app's lanes (Lane.Rank). 0: an end, or an alert that rings, waits; 1: priority 10; 2:
    -- the rest.
    rank smallint not null default 2,
    -- The lease counts only while a message to the channel is under way, because the answer does not clear these
    -- columns.
    leased_by uuid,
    leased_until timestamptz,
    -- The last aps.timestamp given: the next one is greater.
    last_timestamp bigint not null default 0,
    -- Nothing is sent before this time, because of the lane's interval or APNs' Retry-After.
    ready_at timestamptz,
    -- An end was accepted: nothing follows it.
    fenced_at timestamptz,
    -- When the event was cancelled or the audience was removed. From then on the lane takes no new message and does not
    -- send its waiting messages.
    closed_at timestamptz,
    -- The newest accepted content, for apps that start an activity now.
    newest_broadcast uuid,
    -- The broadcast that has the content of the event's last state; null: there was none. Which alert a state sends
    -- depends on it.
    state_broadcast uuid,
    -- Until this time APNs stores the newest message, or devices show the activity that this message ended.
    stored_until timestamptz,
    -- The same for the messages to the audience's tokens (view crowds), of which a shard is leased at a time. During the
    -- lease, tokens_due_at is its end. Tokens that are due later have their own due_at.
    tokens_due_at timestamptz,
    tokens_ready_at timestamptz,
    tokens_last_timestamp bigint not null default 0,
    tokens_leased_by uuid,
    tokens_leased_until timestamptz,
    unique (event_key, bundle_id, environment, variant),
    foreign key (bundle_id, environment) references app_environments on delete cascade,
    check (variant = '' or delivery = 'channel')
)
-- Each message updates its lane's row twice. So vacuum runs after few changes, and does not pause.
with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0);
-- Claims go app by app, so that no app's burst makes another app wait.
create index audiences_due on audiences (environment, bundle_id, rank, due_at) where due_at is not null;
create index audiences_with_tokens on audiences (environment, tokens_due_at) where tokens_due_at is not null;
create index audiences_by_channel on audiences (channel) where channel is not null;
-- Removed audiences whose channel is deleted.
create index audiences_left on audiences (closed_at)
    where event_key is null and closed_at is not null and channel is null;

-- An accepted update or end: of an event, or of a channel without an event.
-- Written by its acceptance. Written later when its send time comes or moves, and when it is shown or withdrawn.
create table broadcasts (
    id uuid primary key,
    event_key text references events on delete cascade,
    channel uuid references channels on delete cascade,
    event broadcast_event not null,
    -- json, not jsonb: the text stays as it was written.
    content_state json,
    alert json,
    -- {"de": {"contentState"?, "alert"?}}: what some variants get instead.
    by_variant json,
    stale_date bigint,
    dismissal_date bigint,
    relevance_score json,
    -- The values that were requested; null: the server chooses.
    priority smallint check (priority in (1, 5, 10)),
    expires_in integer,
    apns_expiration bigint,
    -- [{"bundleId", "environment", "variant"?}]; null: all audiences of the event.
    audiences json,
    warnings text[] not null default '{}',
    -- Who requested and who withdrew the broadcast, named like the actors in the audit log.
    accepted_by text,
    withdrawn_by text,
    accepted_at timestamptz not null,
    -- While the broadcast is scheduled, it has no deliveries. reach: the apps that the broadcast's API key could
    -- access. The broadcast is sent to these apps only; null: all apps.
    send_at timestamptz,
    -- Seconds after the event's start (negative: before the start), if the send time was given in this form; send_at
    -- moves with the event.
    send_after_start integer,
    scheduled boolean not null default false,
    reach text[],
    -- The broadcast was withdrawn, or the event was over before the broadcast had deliveries.
    cancelled boolean not null default false,
    -- The broadcast's content was sent by another way than its messages (with a start, or to a token that joined late),
    -- so the broadcast cannot be withdrawn.
    shown boolean not null default false,
    -- For a broadcast that was made from a state: the state's outcome, and the index of the ring rule that matched.
    state_outcome state_outcome,
    state_rule integer,
    check (event_key is null or channel is null)
);
create index broadcasts_by_event on broadcasts (event_key, accepted_at desc, id desc);
create index broadcasts_by_channel on broadcasts (channel, accepted_at desc, id desc) where channel is not null;
create index broadcasts_by_time on broadcasts (accepted_at) where not scheduled;
create index broadcasts_scheduled on broadcasts (send_at) where scheduled;
create index broadcasts_scheduled_of_event on broadcasts (event_key, send_at) where scheduled;

-- One broadcast's message to one channel, or to the tokens of one audience (the Swift value LaneMessage); rising IDs are
-- the order of a lane. Written by
-- acceptance, claim and settlement. There is no foreign key to audiences, because it would read the whole table for each
-- audience that is deleted (forget_deliveries).
create table deliveries (
    id bigint generated always as identity primary key,
    broadcast_id uuid not null references broadcasts on delete cascade,
    lane bigint not null,
    state delivery_state not null,
    -- While the message is under way: the end of its lane's lease. The lane is then found by this time.
    leased_until timestamptz,
    is_end boolean not null,
    priority smallint not null check (priority in (1, 5, 10)),
    -- The message's priority without its alert; null: 10 for an end, else 5.
    plain_priority smallint check (plain_priority in (1, 5, 10)),
    -- Whether the message still has an alert, and until when the alert rings.
    alerting boolean not null,
    rings_until timestamptz,
    apns_expiration bigint not null,
    expires_at timestamptz not null,
    attempts integer not null default 0,
    -- Attempts that APNs is known not to have processed.
    refusals integer not null default 0,
    next_attempt_at timestamptz,
    apns_timestamp bigint,
    apns_request_id uuid not null,
    apns_unique_id text,
    channel_id text,
    reason text,
    settled_at timestamptz,
    -- The lane's newest content before this message. It becomes the newest again if this message is withdrawn.
    content_before uuid,
    -- The broadcast whose content the last attempt sent; null: the message's own. content_sent: the message's own
    -- content was already sent, with the alert of an earlier message.
    content_of uuid,
    content_sent boolean not null default false,
    -- Bytes of the content that content_of describes, and bytes of the message's alert; null: none, or not known.
    content_bytes integer,
    alert_bytes integer,
    -- How far a message to tokens has got (TokenProgress); null: it goes to the channel.
    tokens json,
    check ((state in ('waiting', 'queued', 'sending')) = (settled_at is null)),
    check ((state = 'sending') = (leased_until is not null))
)
with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index deliveries_pending on deliveries (lane, id) where settled_at is null;
-- What a dead replica left under way, in the order in which leases end.
create index deliveries_under_way on deliveries (leased_until) where state = 'sending';
create index deliveries_by_broadcast on deliveries (broadcast_id);

-- Deliveries are deleted once for each statement that deletes audiences, unless the transaction has deleted them already.
create function forget_deliveries() returns trigger language plpgsql as $$
begin
    if current_setting('grandstand.forgets_history', true) = 'on' then
        return null;
    end if;
    delete from deliveries where lane = any(array(select lane from gone));
    return null;
end
$$;

create trigger forget_deliveries after delete on audiences referencing old table as gone
    for each statement execute function forget_deliveries();

-- Devices and starts ----------------------------------------------------------------------------------------------------

-- One copy of an app on one device. Written by its own requests.
create table installations (
    id bigint generated always as identity primary key,
    app integer not null,
    installation uuid not null,
    secret_hash bytea not null check (length(secret_hash) = 32),
    -- The app's own number of its newest change; null: the app does not number its changes.
    sequence bigint,
    -- 1000 times the major version, plus the minor.
    system_version integer not null,
    app_version text,
    locale text,
    -- The variant of events that the installation shows; null: the variant that fits its locale.
    variant text,
    time_zone text,
    live_activities_enabled boolean not null,
    frequent_pushes_enabled boolean not null,
    created_at timestamptz not null,
    -- When the installation last registered. A registration without a change updates this time at most once a day, so
    -- that the row is rarely written.
    seen_at timestamptz not null,
    -- Each new token that the installation registers moves this time on by three minutes (DeviceBounds); null: it has
    -- registered none.
    tokens_paced_until timestamptz,
    unique (app, installation)
);
create index installations_by_sight on installations (seen_at);

-- A token that starts an activity, one for each type of attributes. Written by registrations, and by what APNs answers.
create table start_tokens (
    installation bigint not null references installations on delete cascade,
    attributes_type text not null,
    app integer not null,
    token bytea not null check (length(token) between 1 and 512),
    registered_at timestamptz not null,
    -- APNs refused the token in a way that may be this server's mistake (environment, topic). The token is not used
    -- until it is registered again.
    suspect_since timestamptz,
    primary key (installation, attributes_type)
);
-- A token belongs to one installation; an app that was installed again takes it over.
create unique index start_tokens_by_token on start_tokens (app, attributes_type, token);

-- A topic that an installation follows. Written by registrations.
create table follows (
    installation bigint not null references installations on delete cascade,
    topic text not null,
    app integer not null,
    primary key (installation, topic)
);
create index follows_by_topic on follows (app, topic, installation);

-- A Live Activity as its app reports it. Written by those reports, and by what APNs answers about its token.
create table activities (
    id bigint generated always as identity primary key,
    installation bigint not null references installations on delete cascade,
    activity text not null,
    app integer not null,
    event_key text not null,
    attributes_type text not null,
    state activity_state not null,
    channel_id text,
    -- The variant of the event's audience that the activity shows. The variant is chosen with the first report (view
    -- crowds).
    variant text not null default '',
    update_token bytea check (length(update_token) between 1 and 512),
    registered_at timestamptz,
    suspect_since timestamptz,
    -- Whether the event's updates are sent to the activity's token: the activity is shown, has a token that is not
    -- suspect, and has no channel.
    in_crowd boolean not null generated always as (
        update_token is not null and suspect_since is null and channel_id is null and state in ('active', 'stale')) stored,
    -- The newest message (deliveries.id) that the token has; 0: the content before them; -1: the token is new. The token
    -- gets its audience's message if this is less, and if due_at is over or null. Without such a message, a new token
    -- gets the newest content at due_at. Others wait with due_at for the message under way: APNs did not take their push
    -- (tries: how often), or they rest (0). Written by reports and settlements, and by claims that lock the audience's
    -- lane.
    has bigint not null default -1,
    due_at timestamptz,
    tries integer not null default 0,
    -- The newest message whose alert the token got, or may have got. With other content this alert does not go again.
    rang bigint not null default 0,
    -- If the user does not allow frequent pushes, then after each push the activity gets only alerts that ring, until
    -- this time.
    rests_until timestamptz,
    -- When the activity was first reported. An activity that was reported before a start was sent was not made by that
    -- start.
    first_reported_at timestamptz,
    reported_at timestamptz not null,
    unique (installation, activity)
)
-- Each push changes `has`, which is in an index. So vacuum runs after few changes, and does not pause.
with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index activities_by_report on activities (reported_at);
create index activities_by_token on activities (app, update_token) where update_token is not null;
create index activities_in_crowds on activities (app, event_key, variant, has, id) where in_crowd;
create index activities_waiting on activities (app, event_key, variant, due_at, id) where in_crowd and due_at is not null;
create index activities_of_events on activities (event_key, id);

-- The push-to-start of an event, as declared. Written with its event, and by calls that start or stop it.
create table event_starts (
    event_key text primary key references events on delete cascade,
    -- The member start of the event, as the API shows it. The next columns have what statements need of it, because
    -- PostgreSQL's JSON operators refuse a text with \u0000.
    declaration json not null,
    -- When the start begins; null: when the event starts.
    at timestamptz,
    attributes_type text not null,
    -- Whether the start is sent again to followers whose activity listens to a channel that was replaced.
    restarts boolean not null default false,
    declared_by text,
    -- When and by whom the start was requested to happen at once; when somebody stopped it.
    asked_at timestamptz,
    asked_by text,
    stopped_at timestamptz,
    -- When the runs of the start must be opened, or compared with the present declaration; null: there is nothing to
    -- open or compare.
    opens_at timestamptz
);
create index event_starts_opening on event_starts (opens_at) where opens_at is not null;

-- A run: the start of an event in one app and environment. The row exists from the opening of the start, and the run's
-- followers follow the event's topics. Written by the loop of starts. due_at is also written by changes that a start
-- depends on, never by registrations or reports.
create table start_runs (
    id bigint generated always as identity primary key,
    event_key text not null references events on delete cascade,
    app integer not null,
    -- The topics and the type of attributes of the run's followers. If they change, all followers are looked at again.
    topics text[] not null,
    attributes_type text not null,
    -- When a replica must look at the run; null: never again.
    due_at timestamptz,
    -- Nothing is sent before due_at, whatever is due in starts: the run is closed or stopped, its time is over, or it
    -- waits for a channel or a content.
    rests boolean not null default false,
    -- The replica that sends pushes of the run, which are the starts in the state sending, and the numbers of its shards
    -- under way. A late or repeated settlement changes nothing, because its shard's number is not among them.
    leased_by uuid,
    leased_until timestamptz,
    shards integer[] not null default '{}',
    last_shard integer not null default 0,
    -- started_at: the first lease with starts. finished_at: the first time that nothing was left to send; the member
    -- perSecond of the API's report on a start counts pushes until then. closed_at: the event was over.
    started_at timestamptz,
    finished_at timestamptz,
    closed_at timestamptz,
    -- Followers up to this installation were taken into shards; null: all followers were. Who follows later is added by
    -- the registration. All followers are read again when topics change, the run is opened again, or a channel of a start
    -- that declares restart was replaced.
    cursor bigint default 0,
    -- How many followers got no start, and why, as the first report after the event's end counted them: {"system",
    -- "disabled", "noToken", "tooLate"}; null: not counted yet.
    ineligible json,
    unique (event_key, app)
);
create index start_runs_due on start_runs (due_at) where due_at is not null;
create index start_runs_by_close on start_runs (app, closed_at);

-- The variants that activities with tokens show, each with the lane of its audience: the audience of that variant or, if
-- that audience was removed, the audience without a variant or, if there is none, the first audience. That audience's
-- messages go to these tokens. Read by event or by lane only. The index activities_in_crowds is probed once for each
-- variant.
create view crowds as
    select u.lane, u.event_key, u.bundle_id, u.environment, ae.id as app, v.variant
    from audiences u join app_environments ae using (bundle_id, environment)
    cross join lateral (
        with recursive shown as (
            (select variant from activities where app = ae.id and event_key = u.event_key and in_crowd
            order by app, event_key, variant limit 1)
            union all
            select n.variant from shown s cross join lateral (
                select variant from activities
                where app = ae.id and event_key = u.event_key and in_crowd and variant > s.variant
                order by app, event_key, variant limit 1) n
        )
        select variant from shown) v
    where u.lane = (
        select lane from audiences
        where event_key = u.event_key and bundle_id = u.bundle_id and environment = u.environment
        order by variant <> v.variant, variant <> '', position limit 1);

-- An installation's start in a run. A follower's row is inserted as `sending` before the push, or as `pending` by the
-- registration of one who follows later. Before its push a start is `sending`. If the run's lease ends without an answer, it is
-- `unknown`. A start that is settled is never sent again, unless APNs refused it because of its token, or the channel was
-- replaced. Written by the loop of starts, registrations and reports. There is no foreign key, because it would read
-- the run's row a million times. Whoever deletes a run deletes these rows first.
create table starts (
    run bigint not null,
    installation bigint not null,
    state start_state not null default 'pending',
    -- When it is sent; null: it is not pending.
    due_at timestamptz,
    -- Pushes that were sent and that APNs is known not to have processed.
    attempts integer not null default 0,
    reason text,
    -- Since when the start is in its state; of a settled start: when its push was sent.
    at timestamptz not null,
    -- The app reported the activity.
    confirmed_at timestamptz,
    -- Of a pending start: installations that had the installation's token before. If one of them got the start, or may
    -- have got it, this installation gets none.
    former bigint[],
    -- SHA-256 of the start token, once the installation has lost this token or was deleted. Who registers the token next
    -- is on the same phone, so that phone gets no second start.
    token bytea,
    primary key (run, installation),
    check ((due_at is not null) = (state = 'pending'))
)
-- No index has a column that the settlement of a start changes, so it writes the row only, on the row's page.
with (fillfactor = 80);
create index starts_pending on starts (run, due_at, installation) where due_at is not null;
create index starts_by_lost_token on starts (run, token) where token is not null;
create index starts_of_heirs on starts (run, installation) where former is not null;

-- How many installations an app has. Written by those who insert or delete installations, as the last statement of their
-- transactions, so that others wait for the commit only.
create table device_accounts (
    app integer primary key,
    installations bigint not null,
    -- The hour of the newest installation, and how many were new in this hour, also if they were deleted since.
    hour timestamptz not null,
    created bigint not null
) with (fillfactor = 50);

-- Lookups ---------------------------------------------------------------------------------------------------------------

-- A change of something on which cached lookups or API keys depend. Every replica reads the changed data again. Written
-- by triggers in the transaction of the change, so that an operator's SQL is noticed, too. NOTIFY is fast, and the
-- journal tells exactly what was committed since a replica last looked.
create table lookup_journal (
    -- The transaction. A replica knows of the change if its last snapshot saw the transaction.
    version xid8 not null default pg_current_xact_id(),
    -- 'event KEY', 'events' (any event may have changed), or 'keys'.
    subject text not null,
    at timestamptz not null default now(),
    primary key (version, subject)
);
create index lookup_journal_by_time on lookup_journal (at);

-- Announces a change of the row's event, or, for each statement, the subject that is the trigger's argument. A session with
-- grandstand.notices = on also gets a notice of its own change before the commit is answered. So nobody who was told of
-- the change gets an older answer from the same process.
create function announce_lookup() returns trigger language plpgsql as $$
declare
    subjects text[];
    what text;
begin
    if tg_level = 'STATEMENT' then
        subjects := array[tg_argv[0]];
    elsif tg_table_name = 'events' then
        subjects := array['event ' || new.key];
    elsif tg_table_name = 'audiences' then
        subjects := array['event ' || old.event_key, 'event ' || new.event_key];
    else
        -- The event that waits for the channel has no audience with it yet.
        subjects := array(
            select 'event ' || event_key from audiences where channel = new.id union select 'event ' || new.event_key);
    end if;
    foreach what in array subjects loop
        -- An inserted row has no old event, a deleted row no new one.
        continue when what is null;
        insert into lookup_journal (subject) values (what) on conflict do nothing;
        perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
        if current_setting('grandstand.notices', true) = 'on' then
            raise notice '%', what using errcode = 'GS001';
        end if;
    end loop;
    return null;
end
$$;

-- A new or deleted event is announced by the trigger on its audiences.
create trigger announce_lookup after update on events for each row
    when (old.name is distinct from new.name or old.kind is distinct from new.kind
        or old.topics is distinct from new.topics or old.starts_at is distinct from new.starts_at
        or old.ends_at is distinct from new.ends_at or old.first_update_at is distinct from new.first_update_at
        or old.ended_at is distinct from new.ended_at or old.cancelled_at is distinct from new.cancelled_at
        or old.channels_open_at is distinct from new.channels_open_at)
    execute function announce_lookup();
create trigger announce_lookup after insert or delete on audiences for each row execute function announce_lookup();
create trigger announce_change
    after update of event_key, bundle_id, environment, variant, position, storage_policy, delivery, channel, fenced_at
    on audiences for each row
    when ((old.event_key, old.bundle_id, old.environment, old.variant, old.position,
        old.storage_policy, old.delivery, old.channel, old.fenced_at is null) is distinct from (
        new.event_key, new.bundle_id, new.environment, new.variant, new.position,
        new.storage_policy, new.delivery, new.channel, new.fenced_at is null))
    execute function announce_lookup();
-- An app that looks a channel up learns why the channel could not be made, and when the creation is tried again.
-- Inserted rows are not announced, because only a refusal changes an answer.
create trigger announce_lookup after update of state, channel_id, reason, next_attempt_at on channels for each row
    when (old.state is distinct from new.state or old.channel_id is distinct from new.channel_id
        or new.state = 'failed' and (old.reason, old.next_attempt_at) is distinct from (new.reason, new.next_attempt_at))
    execute function announce_lookup();
-- Events and channels can only be truncated together with audiences, which refer to them.
create trigger announce_truncation after truncate on audiences for each statement execute function announce_lookup('events');
create trigger announce_keys
    after insert or delete or truncate or update of name, secret_hash, scopes, apps, revoked_at, expires_at on api_keys
    for each statement execute function announce_lookup('keys');

-- Webhooks --------------------------------------------------------------------------------------------------------------
-- Who changes something writes the messages about it in the same transaction (WebhookNews). Without a subscription,
-- only the almost empty table of webhooks is read for this.

-- A URL that messages about some topics are posted to. Written by the calls about webhooks, and by deliveries that fail
-- for long.
create table webhooks (
    id uuid primary key,
    url text not null check (length(url) between 8 and 2000),
    description text,
    topics webhook_topic[] not null check (cardinality(topics) > 0),
    -- The apps that the webhook's messages are about; null: all.
    apps text[],
    -- The key that last set where the webhook's messages are sent and what they contain; null: the command line, or a
    -- key that is no longer stored.
    declared_by uuid references api_keys on delete set null,
    state webhook_state not null,
    -- Why the server disabled the webhook.
    reason text,
    -- The secrets are stored as they are, because a hash could not sign.
    secret text not null check (secret like 'whsec\_%'),
    previous_secret text,
    previous_secret_until timestamptz,
    -- The first failure since the last success.
    failing_since timestamptz,
    -- The posts in a row without an answer, or with a 5xx. From the fifth on nothing is posted until `silent_until`.
    failures integer not null default 0,
    silent_until timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    version bigint not null default nextval('resource_versions'),
    check ((previous_secret is null) = (previous_secret_until is null)),
    check (reason is null or state = 'disabled')
);

-- A message to one webhook, with the log of its attempts. Written by the transaction whose change it reports, and by the
-- loop that posts messages.
create table webhook_messages (
    id uuid primary key default gen_random_uuid(),
    webhook uuid not null references webhooks on delete cascade,
    -- The ID that receivers see. All webhooks that are told of a change get the same one.
    message uuid not null,
    topic webhook_topic not null,
    -- What is posted, byte for byte.
    body json not null,
    state webhook_delivery_state not null default 'queued',
    -- The attempts of all rounds, and the tries of the present round. A replay begins another round.
    attempts integer not null default 0,
    tries integer not null default 0,
    -- When the next attempt is due; while a request is under way, the end of its lease.
    next_attempt_at timestamptz,
    leased_by uuid,
    -- The attempts that ended, as the API shows them, the oldest first. The last one has the receiver's last answer.
    log jsonb not null default '[]',
    created_at timestamptz not null,
    settled_at timestamptz,
    check ((state in ('queued', 'sending')) = (settled_at is null)),
    check ((settled_at is null) = (next_attempt_at is not null)),
    check ((state = 'sending') = (leased_by is not null))
);
create index webhook_messages_due on webhook_messages (webhook, next_attempt_at) where settled_at is null;
create index webhook_messages_posting on webhook_messages (webhook) where state = 'sending';
create index webhook_messages_requested on webhook_messages (webhook, next_attempt_at)
    where settled_at is null and (topic = 'webhook.test' or attempts > 0 and tries = 0);
create index webhook_messages_listed on webhook_messages (webhook, created_at desc, id desc);
create index webhook_messages_waiting on webhook_messages (webhook, created_at) where settled_at is null;
create index webhook_messages_by_time on webhook_messages (created_at);
