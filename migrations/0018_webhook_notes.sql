-- What webhooks are told of is noted here, in the transaction that does it; the message is made of the note by the code
-- that makes the API's views (GrandstandStore/Webhooks, WebhookTopic). It was composed in these triggers before.
--
-- tell_webhooks and webhook_time stay for replicas of the version before, whose own statements call them.

-- A note holds what may be another when it is read: the row as it is now, and the webhooks that want to hear of it.
-- Settled broadcasts have notes of their own (webhook_settlements): nothing of them changes any more.
create table webhook_notes (
    id bigint primary key generated always as identity,
    topic webhook_topic not null,
    at timestamptz not null,
    webhooks uuid[] not null,
    -- A row of channels; of one that took another's place, that one's, too.
    channel json,
    replaced json,
    -- What is noted of anything else.
    detail json,
    check ((channel is null) <> (detail is null)),
    check (replaced is null or channel is not null)
);

-- Notes for every webhook that wants to hear of it. `app` is whom it concerns; null: more than one.
create function note_for_webhooks(
    topic webhook_topic, at timestamptz, app text, channel json default null, replaced json default null,
    detail json default null
) returns void language plpgsql as $$
declare
    wanted uuid[];
begin
    select array_agg(w.id) into wanted from webhooks w
    where w.state = 'enabled' and note_for_webhooks.topic = any(w.topics) and (w.bundle_id is null or w.bundle_id = app);
    if wanted is null then
        return;
    end if;
    insert into webhook_notes (topic, at, webhooks, channel, replaced, detail)
    values (note_for_webhooks.topic, note_for_webhooks.at, wanted, note_for_webhooks.channel,
        note_for_webhooks.replaced, note_for_webhooks.detail);
    perform pg_notify('grandstand_webhooks', '');
end
$$;

create or replace function tell_of_missing_channel() returns trigger language plpgsql as $$
begin
    perform note_for_webhooks('channel.missing', new.changed_at, new.bundle_id, channel => to_json(new));
    return null;
end
$$;

-- The first channel of an audience replaces nothing.
create or replace function tell_of_replaced_channel() returns trigger language plpgsql as $$
declare
    earlier channels;
begin
    select * into earlier from channels c
    where c.event_key = new.event_key and c.bundle_id = new.bundle_id and c.environment = new.environment
        and c.storage_policy = new.storage_policy and c.id <> new.id and c.channel_id is not null
    order by c.created_at desc limit 1;
    if found then
        perform note_for_webhooks(
            'channel.replaced', new.changed_at, new.bundle_id, channel => to_json(new), replaced => to_json(earlier));
    end if;
    return null;
end
$$;

-- Whether it is news, the report and the alarm before it say (ReconciliationFinding).
create or replace function tell_of_reconciliation() returns trigger language plpgsql as $$
begin
    perform note_for_webhooks('reconciliation.found', new.finished_at, new.bundle_id, detail => json_build_object(
        'report', new.report, 'standing', (select alarm from app_environments
            where bundle_id = new.bundle_id and environment = new.environment)));
    return null;
end
$$;

-- Two things say so: every known channel gone at once, and Apple's refusal of a channel, which has its evidence.
create or replace function tell_of_alarm() returns trigger language plpgsql as $$
begin
    perform note_for_webhooks('capability.off', new.reconciled_at, new.bundle_id, detail => json_build_object(
        'bundle_id', new.bundle_id, 'environment', new.environment));
    return null;
end
$$;

create or replace function tell_of_quirk() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' or old.value is distinct from new.value then
        perform note_for_webhooks('capability.off', new.learned_at, new.bundle_id, detail => to_json(new));
    end if;
    return null;
end
$$;
