-- Keys and webhooks of several apps. `bundle_id` stays the first of them: a build of before reads that alone, and so lets
-- such a key reach less, never more.
alter table api_keys add column apps text[];
alter table webhooks add column apps text[];

-- What `apps` says holds while it begins with `bundle_id`: a build of before changes that alone.
create function reach_of(bundle_id text, apps text[]) returns text[] language sql immutable as $$
    select case when bundle_id is null then null when apps[1] = bundle_id then apps else array[bundle_id] end
$$;

-- A key or webhook of several apps goes on for those that are left; that of one goes with it, by its foreign key.
create function leave_reaches() returns trigger language plpgsql as $$
begin
    update api_keys set apps = array_remove(apps, old.bundle_id), bundle_id = (array_remove(apps, old.bundle_id))[1]
    where old.bundle_id = any(reach_of(bundle_id, apps)) and cardinality(reach_of(bundle_id, apps)) > 1;
    update webhooks set apps = array_remove(apps, old.bundle_id), bundle_id = (array_remove(apps, old.bundle_id))[1]
    where old.bundle_id = any(reach_of(bundle_id, apps)) and cardinality(reach_of(bundle_id, apps)) > 1;
    return old;
end
$$;
create trigger leave_reaches before delete on apps for each row execute function leave_reaches();

drop trigger announce_keys on api_keys;
create trigger announce_keys
    after insert or delete or update of name, secret_hash, scopes, bundle_id, apps, revoked_at, expires_at on api_keys
    for each statement execute function announce_subject('keys');

drop trigger new_version on webhooks;
create trigger new_version before update on webhooks for each row
    when ((old.url, old.description, old.topics, old.bundle_id, old.apps, old.state)
        is distinct from (new.url, new.description, new.topics, new.bundle_id, new.apps, new.state))
    execute function new_version();

-- A note for webhooks that are bound to no apps, or to all of these.
create function note_for_webhooks(
    topic webhook_topic, at timestamptz, apps text[], channel json default null, replaced json default null,
    detail json default null
) returns void language plpgsql as $$
declare
    wanted uuid[];
begin
    select array_agg(w.id) into wanted from webhooks w
    where w.state = 'enabled' and note_for_webhooks.topic = any(w.topics)
        and (w.bundle_id is null or note_for_webhooks.apps <@ reach_of(w.bundle_id, w.apps));
    if wanted is null then
        return;
    end if;
    insert into webhook_notes (topic, at, webhooks, channel, replaced, detail)
    values (note_for_webhooks.topic, note_for_webhooks.at, wanted, note_for_webhooks.channel,
        note_for_webhooks.replaced, note_for_webhooks.detail);
    perform pg_notify('grandstand_webhooks', '');
end
$$;

create or replace function note_for_webhooks(
    topic webhook_topic, at timestamptz, app text, channel json default null, replaced json default null,
    detail json default null
) returns void language sql as $$
    select note_for_webhooks(topic, at, array[app], channel, replaced, detail)
$$;
