-- Who asked for a broadcast, and a version of what people write, so that two of them do not overwrite each other.

alter type audit_action add value 'broadcast.accepted';
alter type audit_action add value 'broadcast.withdrawn';

-- As the audit log names its actors; null: accepted before this was kept, or by a replica that did not keep it yet.
alter table broadcasts add column accepted_by text;
alter table audit_log add column broadcast uuid;

-- One sequence for all: a version is never met again, not by a thing that was removed and made anew either.
create sequence resource_versions;

create function new_version() returns trigger language plpgsql as $$
begin
    new.version = nextval('resource_versions');
    return new;
end
$$;

-- A trigger, not the statements that write: a replica that knows nothing of versions makes one, too. Only what a PUT sets
-- is named: an event that starts, or a webhook that fails once, is the same version still. A PUT writes the event's row
-- also when only its audiences differ, and the app's row when only an environment's team or key does.
alter table apps add column version bigint not null default nextval('resource_versions');
create trigger new_version before update of name, team_id, key_id, channel_limit on apps
    for each row execute function new_version();

alter table events add column version bigint not null default nextval('resource_versions');
create trigger new_version before update of name, kind, starts_at, ends_at, channels_open_at, metadata on events
    for each row execute function new_version();

alter table webhooks add column version bigint not null default nextval('resource_versions');
create trigger new_version before update on webhooks
    for each row when ((old.url, old.description, old.topics, old.bundle_id, old.state)
        is distinct from (new.url, new.description, new.topics, new.bundle_id, new.state))
    execute function new_version();
