-- Webhooks with their outbox, and who looks at which events live.
--
-- Messages are written by triggers: whatever changes a row, present code or later, tells of it in the same commit, and no
-- store needs to know of webhooks. While nobody listens, a trigger is one look at an almost empty table.

alter type audit_action add value 'webhook.created';
alter type audit_action add value 'webhook.changed';
alter type audit_action add value 'webhook.deleted';
alter type audit_action add value 'webhook.rotated';
alter type audit_action add value 'webhook.disabled';

create type webhook_topic as enum (
    'broadcast.settled', 'channel.missing', 'channel.replaced', 'quota.level', 'reconciliation.found', 'capability.off',
    'webhook.test'
);
create type webhook_state as enum ('enabled', 'disabled');
create type webhook_delivery_state as enum ('queued', 'sending', 'delivered', 'failed', 'cancelled');

create table webhooks (
    id uuid primary key,
    url text not null check (length(url) between 8 and 2000),
    description text,
    topics webhook_topic[] not null check (cardinality(topics) > 0),
    bundle_id text references apps on delete cascade,
    state webhook_state not null,
    -- Why the server disabled it.
    reason text,
    -- They sign, so they are kept as they are.
    secret text not null check (secret like 'whsec\_%'),
    previous_secret text,
    previous_secret_until timestamptz,
    -- The first failure since the last success.
    failing_since timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check ((previous_secret is null) = (previous_secret_until is null)),
    check (reason is null or state = 'disabled')
);
create index webhooks_listed on webhooks (created_at, id);

-- What is posted, byte for byte, to however many webhooks.
create table webhook_messages (
    id uuid primary key default gen_random_uuid(),
    topic webhook_topic not null,
    -- The broadcast that was settled: told of once.
    broadcast_id uuid unique,
    body text not null,
    created_at timestamptz not null
);
create index webhook_messages_by_time on webhook_messages (created_at);

create table webhook_deliveries (
    id uuid primary key default gen_random_uuid(),
    message uuid not null references webhook_messages on delete cascade,
    webhook uuid not null references webhooks on delete cascade,
    state webhook_delivery_state not null default 'queued',
    -- Of all rounds, and of the present one: a replay begins another.
    attempts integer not null default 0,
    tries integer not null default 0,
    -- While it is sending, the end of its lease.
    next_attempt_at timestamptz,
    leased_by uuid,
    status integer,
    reason text,
    created_at timestamptz not null,
    settled_at timestamptz,
    unique (message, webhook),
    check ((state in ('queued', 'sending')) = (settled_at is null)),
    check ((settled_at is null) = (next_attempt_at is not null)),
    check ((state = 'sending') = (leased_by is not null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook, next_attempt_at) where settled_at is null;
create index webhook_deliveries_listed on webhook_deliveries (webhook, created_at desc, id desc);

create table webhook_attempts (
    delivery uuid not null references webhook_deliveries on delete cascade,
    number integer not null,
    at timestamptz not null,
    milliseconds integer not null,
    status integer,
    reason text,
    primary key (delivery, number)
);

-- Broadcasts of which a delivery was settled: each settling transaction notes its own, and whether all are settled is
-- looked at after the commit. Two that settle the last two deliveries at once cannot both miss it then.
create table webhook_settlements (
    id bigint primary key generated always as identity,
    broadcast_id uuid not null
);

create table quota_levels (
    bundle_id text not null,
    environment environment not null,
    level text not null check (level in ('ok', 'warning', 'critical')),
    primary key (bundle_id, environment),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);

-- Events that a replica shows live, until then.
create table live_views (
    event_key text not null,
    replica uuid not null,
    expires_at timestamptz not null,
    primary key (event_key, replica)
);

create function webhook_time(at timestamptz) returns text language sql stable as $$
    select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Writes a message for every webhook that wants to hear of it. `app` is whom it concerns; null: more than one.
create function tell_webhooks(
    topic webhook_topic, at timestamptz, app text, data json, broadcast uuid default null
) returns void language plpgsql as $$
declare
    told uuid;
begin
    if not exists (
        select from webhooks w where w.state = 'enabled' and tell_webhooks.topic = any(w.topics)
            and (w.bundle_id is null or w.bundle_id = app)) then
        return;
    end if;
    insert into webhook_messages as m (topic, broadcast_id, body, created_at)
    values (tell_webhooks.topic, broadcast,
        json_build_object('type', tell_webhooks.topic, 'timestamp', webhook_time(at), 'data', data)::text, at)
    on conflict (broadcast_id) do nothing returning m.id into told;
    if told is null then
        return;
    end if;
    insert into webhook_deliveries (message, webhook, next_attempt_at, created_at)
    select told, w.id, at, at from webhooks w
    where w.state = 'enabled' and tell_webhooks.topic = any(w.topics) and (w.bundle_id is null or w.bundle_id = app);
    perform pg_notify('grandstand_webhooks', '');
end
$$;

-- One call for each statement, not for each delivery: the way of broadcasts is the hot one.
create function tell_of_deliveries() returns trigger language plpgsql as $$
begin
    if exists (select from webhooks where state = 'enabled' and 'broadcast.settled' = any(topics)) then
        insert into webhook_settlements (broadcast_id)
        select distinct broadcast_id from changed where settled_at is not null;
        if found then
            perform pg_notify('grandstand_webhooks', '');
        end if;
    end if;
    if exists (select from live_views) then
        perform pg_notify('grandstand_live', k.event_key) from (
            select distinct b.event_key from changed c join broadcasts b on b.id = c.broadcast_id
            where b.event_key in (select v.event_key from live_views v)) k;
    end if;
    return null;
end
$$;
create trigger tell_of_new after insert on deliveries referencing new table as changed
    for each statement execute function tell_of_deliveries();
create trigger tell_of_changed after update on deliveries referencing new table as changed
    for each statement execute function tell_of_deliveries();

-- A scheduled broadcast, before it has deliveries, and one that was withdrawn then and never will.
create function tell_of_scheduled() returns trigger language plpgsql as $$
begin
    if not new.scheduled
        and exists (select from webhooks where state = 'enabled' and 'broadcast.settled' = any(topics)) then
        insert into webhook_settlements (broadcast_id) values (new.id);
        perform pg_notify('grandstand_webhooks', '');
    end if;
    if exists (select from live_views where event_key = new.event_key) then
        perform pg_notify('grandstand_live', new.event_key);
    end if;
    return null;
end
$$;
create trigger tell_of_scheduled after insert on broadcasts for each row when (new.scheduled)
    execute function tell_of_scheduled();
create trigger tell_of_unscheduled after update on broadcasts for each row
    when (old.scheduled and not new.scheduled) execute function tell_of_scheduled();

create function tell_of_event() returns trigger language plpgsql as $$
begin
    if exists (select from live_views where event_key = new.key) then
        perform pg_notify('grandstand_live', new.key);
    end if;
    return null;
end
$$;
create trigger tell_of_event after update on events for each row
    when (old.starts_at is distinct from new.starts_at or old.first_update_at is distinct from new.first_update_at
        or old.ended_at is distinct from new.ended_at or old.cancelled_at is distinct from new.cancelled_at)
    execute function tell_of_event();

create function tell_of_missing_channel() returns trigger language plpgsql as $$
begin
    perform tell_webhooks('channel.missing', new.changed_at, new.bundle_id, json_build_object(
        'id', new.id, 'channelId', new.channel_id, 'bundleId', new.bundle_id, 'environment', new.environment,
        'storagePolicy', new.storage_policy, 'eventKey', new.event_key, 'reason', new.reason));
    return null;
end
$$;
create trigger tell_of_missing after update on channels for each row
    when (new.state = 'missing' and old.state <> 'missing') execute function tell_of_missing_channel();

-- The first channel of an audience replaces nothing.
create function tell_of_replaced_channel() returns trigger language plpgsql as $$
declare
    earlier channels;
begin
    select * into earlier from channels c
    where c.event_key = new.event_key and c.bundle_id = new.bundle_id and c.environment = new.environment
        and c.storage_policy = new.storage_policy and c.id <> new.id and c.channel_id is not null
    order by c.created_at desc limit 1;
    if found then
        perform tell_webhooks('channel.replaced', new.changed_at, new.bundle_id, json_build_object(
            'id', new.id, 'channelId', new.channel_id, 'bundleId', new.bundle_id, 'environment', new.environment,
            'storagePolicy', new.storage_policy, 'eventKey', new.event_key,
            'replaced', json_build_object('id', earlier.id, 'channelId', earlier.channel_id)));
    end if;
    return null;
end
$$;
create trigger tell_of_replaced after update on channels for each row
    when (new.state = 'active' and old.state = 'creating' and new.event_key is not null)
    execute function tell_of_replaced_channel();
create trigger tell_of_imported after insert on channels for each row
    when (new.state = 'active' and new.event_key is not null) execute function tell_of_replaced_channel();

-- Only what no earlier run had seen: an unmanaged channel is not told of every hour.
create function tell_of_reconciliation() returns trigger language plpgsql as $$
declare
    fresh bigint;
    standing reconciliation_alarm;
begin
    select count(*) into fresh from json_array_elements(new.report -> 'unmanaged') as u
    -- Reports have milliseconds.
    where (u ->> 'firstSeenAt')::timestamptz >= new.started_at - interval '1 millisecond';
    select alarm into standing from app_environments
    where bundle_id = new.bundle_id and environment = new.environment;
    if fresh > 0 or json_array_length(new.report -> 'missing') > 0 or json_array_length(new.report -> 'actions') > 0
        or (new.report ->> 'alarm') is distinct from standing::text and new.report ->> 'alarm' is not null then
        perform tell_webhooks('reconciliation.found', new.finished_at, new.bundle_id, json_build_object(
            'id', new.id, 'bundleId', new.bundle_id, 'environment', new.environment,
            'startedAt', new.report -> 'startedAt', 'finishedAt', new.report -> 'finishedAt',
            'applied', new.report -> 'applied', 'apple', new.report -> 'apple', 'ledger', new.report -> 'ledger',
            'missing', json_array_length(new.report -> 'missing'),
            'unmanaged', json_array_length(new.report -> 'unmanaged'), 'newUnmanaged', fresh,
            'actions', json_array_length(new.report -> 'actions'), 'alarm', new.report -> 'alarm'));
    end if;
    return null;
end
$$;
create trigger tell_of_reconciliation after insert on reconciliations for each row
    execute function tell_of_reconciliation();

-- Two things say so: Apple's refusal of a channel, and every known channel gone at once.
create function tell_of_alarm() returns trigger language plpgsql as $$
begin
    perform tell_webhooks('capability.off', new.reconciled_at, new.bundle_id, json_build_object(
        'bundleId', new.bundle_id, 'environment', new.environment,
        'evidence', 'Apple''s list has none of the channels that are known here'));
    return null;
end
$$;
create trigger tell_of_alarm after update on app_environments for each row
    when (new.alarm = 'capability-off' and old.alarm is distinct from new.alarm) execute function tell_of_alarm();

create function tell_of_quirk() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' or old.value is distinct from new.value then
        perform tell_webhooks('capability.off', new.learned_at, new.bundle_id, json_build_object(
            'bundleId', new.bundle_id, 'environment', new.environment, 'evidence', new.evidence));
    end if;
    return null;
end
$$;
create trigger tell_of_quirk after insert or update on quirks for each row
    when (new.name = 'broadcast-feature' and new.value = 'off') execute function tell_of_quirk();
