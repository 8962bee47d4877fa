-- What is withdrawn is cancelled, never done, and leaves what was true before it. An audience that got its end has
-- nothing to follow any more, though its event goes on for others.

-- Withdrawn, or its event was over before it had deliveries.
alter table broadcasts add column cancelled boolean not null default false;
update broadcasts b set cancelled = true
where not b.scheduled and b.send_at is not null and not exists (select from deliveries d where d.broadcast_id = b.id);

-- The lane's newest content before this message: what is newest again when this one is withdrawn.
alter table deliveries add column content_before uuid;

-- No attempt carries an expiration that has passed: the header was floored, the deadline was not.
update deliveries set expires_at = least(expires_at, to_timestamp(apns_expiration))
where settled_at is null and apns_expiration > 0;

drop trigger announce_lookup on lanes;
create trigger announce_lookup after update of channel, fenced_at on lanes for each row
    when (old.channel is distinct from new.channel or (old.fenced_at is null) <> (new.fenced_at is null))
    execute function announce_lane();

-- A broadcast is told of once, so what was told before a withdrawal changed it gives its place up: the one withdrawn, if
-- it had been replaced, and one it had replaced that goes after all.
create function tell_of_withdrawn() returns trigger language plpgsql as $$
begin
    update webhook_messages set broadcast_id = null
    where broadcast_id = new.id or broadcast_id in (
        select p.broadcast_id from deliveries d join deliveries p on p.lane = d.lane and p.settled_at is null
        where d.broadcast_id = new.id);
    return null;
end
$$;
create trigger tell_of_withdrawn after update of cancelled on broadcasts for each row
    when (new.cancelled and not old.cancelled) execute function tell_of_withdrawn();
