-- The lanes of an audience: one of them leads and takes every message, the others follow it.

-- Beside `event_lanes`, which replicas of the version before read: that leaves out the own lane of an audience that is
-- reached by tokens only. Read by event or by lane, and by nothing else: each row is looked up by key whatever statistics
-- say (offset 0).
create view audience_lanes as
    select event_key, bundle_id, environment, position, lane as beside, lane, delivery = 'channel' as is_lead
    from audiences
    union all
    select c.event_key, u.bundle_id, u.environment, u.position, u.lane, c.lane,
        u.delivery = 'tokens' and c.kind = 'crowd'
    from crowds c
    cross join lateral (select bundle_id, environment from app_environments where id = c.app offset 0) ae
    cross join lateral (
        select * from audiences
        where event_key = c.event_key and bundle_id = ae.bundle_id and environment = ae.environment offset 0) u;

-- What only the crowd knew.
update lanes l set newest_broadcast = coalesce(r.newest_broadcast, l.newest_broadcast),
    fenced_at = coalesce(l.fenced_at, r.fenced_at), last_timestamp = greatest(l.last_timestamp, r.last_timestamp)
from audiences u join audience_lanes v
    on v.event_key = u.event_key and v.beside = u.lane and v.is_lead join lanes r on r.id = v.lane
where l.id = u.lane and u.delivery = 'tokens';

-- Who waits longest on a lane.
create index crowd_joins_of_lanes on crowd_joins (lane, due_at, activity);
drop index crowd_joins_by_lane;

-- A token is one activity's.
create index activities_by_token on activities (app, update_token) where update_token is not null;

-- Its content went to somebody by another way than its messages, with a start or to a token that came late: it cannot be
-- withdrawn any more.
alter table broadcasts add column shown boolean not null default false;
