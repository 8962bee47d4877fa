-- Alerts ring while they are fresh, and carry the newest content.

-- When its alert is too old to ring; it goes on as an update without one then. Null: it has none.
alter table deliveries add column rings_until timestamptz;
-- The broadcast whose content its last attempt had; null: its own.
alter table deliveries add column content_of uuid;
-- Its content went with an alert before it.
alter table deliveries add column content_sent boolean not null default false;

-- What waits now rings as long as what will come.
update deliveries d set rings_until = least(d.expires_at, b.accepted_at + interval '900 seconds')
from broadcasts b
where d.settled_at is null and d.alerting and b.id = d.broadcast_id and b.expires_in is null
    and coalesce(b.apns_expiration, 0) = 0;
