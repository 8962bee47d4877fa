-- What was closed, in the order in which it is forgotten. An event that is still to come is not, though it was called off:
-- whatever declares it once more, a calendar or a nightly job, is to find that it was.
create index events_over on events (greatest(ended_at, cancelled_at, starts_at, ends_at))
    where ended_at is not null or cancelled_at is not null;
create index channels_deleted on channels (changed_at) where state = 'deleted';
-- Lanes of audiences that were taken away, once their channel is forgotten.
create index lanes_left on lanes (closed_at) where closed_at is not null and channel is null and kind = 'channel';
create index api_keys_over on api_keys (least(revoked_at, expires_at))
    where revoked_at is not null or expires_at is not null;

-- Who forgets lanes has forgotten what was sent by them: `deliveries` has no index of lanes that are quiet.
create or replace function forget_deliveries() returns trigger language plpgsql as $$
begin
    if current_setting('grandstand.forgets_history', true) = 'on' then
        return null;
    end if;
    if exists (select from gone where kind <> 'token') then
        delete from deliveries where lane = any(array(select id from gone where kind <> 'token'));
    end if;
    return null;
end
$$;

alter type audit_action add value 'audit.pruned';

-- The one way out of the audit log. Entries before `before` go, the oldest first, `most` at a time, and an entry says how many
-- of which span did. Nobody removes what is younger than 30 days.
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

create or replace function refuse_change_of_audit_log() returns trigger language plpgsql as $$
begin
    -- The function above, in this transaction; whoever sets this by hand means to.
    if tg_op = 'DELETE' and current_setting('grandstand.prunes_audit_log', true) = pg_current_xact_id()::text then
        return null;
    end if;
    raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;
