-- What holds a place and until when, found by index whatever lies behind.

-- Until then APNs keeps the newest message of the lane's channel, or shows what it ended; null: nothing of the kind.
alter table lanes add column stored_until timestamptz;
update lanes l set stored_until = s.until
from (
    select d.lane, greatest(max(d.expires_at) filter (where d.apns_expiration > 0),
            max(to_timestamp(least(b.dismissal_date, floor(extract(epoch from d.settled_at))::bigint + 14400)))
                filter (where d.is_end and b.dismissal_date is not null)) as until
    from deliveries d join broadcasts b on b.id = d.broadcast_id
    where d.state = 'accepted' and d.settled_at > now() - interval '12 hours'
    group by d.lane
) s where l.id = s.lane and s.until is not null;

-- Apple keeps no ended activity longer than four hours, and no message longer than eight.
update broadcasts set dismissal_date = floor(extract(epoch from send_at))::bigint + 14400
where scheduled and dismissal_date > floor(extract(epoch from send_at))::bigint + 14400;
update channels set needed_until = changed_at + interval '8 hours', retire_at = changed_at + interval '8 hours',
    next_attempt_at = changed_at + interval '8 hours'
where state = 'retiring' and needed_until > changed_at + interval '8 hours';

-- Set with ended_at where no end came and the clock closed the event: its organiser may take that back.
alter table events add column expired_at timestamptz;
update events e set expired_at = e.ended_at from audit_log a
where a.action = 'event.expired' and a.event_key = e.key and a.at = e.ended_at;

-- Channels that are not deleted, by state, then by app.
drop index channels_by_state;
create index channels_live on channels (state, bundle_id, environment) where state <> 'deleted';
create index events_opening on events (channels_open_at)
    where channels_open_at is not null and ended_at is null and cancelled_at is null;
create index broadcasts_scheduled_of_event on broadcasts (event_key, send_at) where scheduled;
