-- Single pushes: broadcasts to one token of a team's own, on a lane of that token.

-- APNs did not answer a push that starts an activity, or nobody was left to hear it: it may have been made.
alter type delivery_state add value 'unknown' after 'rejected';
alter type broadcast_event add value 'start' before 'update';
alter type audit_action add value 'push.accepted' after 'broadcast.withdrawn';

alter table lanes
    add column token bytea check (length(token) between 1 and 512),
    add check ((kind = 'token') = (token is not null));
create unique index lanes_by_token on lanes (bundle_id, environment, token) where token is not null;

alter table broadcasts
    -- Of a push: its token's lane.
    add column lane bigint references lanes on delete cascade,
    -- What only a start has: attributesType, attributes, and inputPushChannel or inputPushToken.
    add column start json,
    add check (lane is null or event_key is null and channel is null);
create index broadcasts_by_lane on broadcasts (lane) where lane is not null;

-- It is never repeated: two cards on a lock screen are worse than none.
alter table deliveries add column is_start boolean not null default false;

-- A foreign key would read all of the table for each lane that is forgotten, for no index finds what is settled of a lane.
-- A push's deliveries go with their broadcasts, which have the lane; those of other lanes once for a statement.
alter table deliveries drop constraint deliveries_lane_fkey;
create function forget_deliveries() returns trigger language plpgsql as $$
begin
    if exists (select from gone where kind <> 'token') then
        delete from deliveries where lane = any(array(select id from gone where kind <> 'token'));
    end if;
    return null;
end
$$;
create trigger forget_deliveries after delete on lanes referencing old table as gone
    for each statement execute function forget_deliveries();
create index crowd_joins_by_lane on crowd_joins (lane);
