-- Lanes under load: who goes first, and what updates cost.

-- Something that waits has priority 10 or is an end: before the app's other lanes.
alter table lanes add column is_urgent boolean not null default false;
-- Claims go app by app, so that no burst of one app makes another wait.
drop index lanes_due;
create index lanes_due on lanes (environment, bundle_id, is_urgent, due_at) where due_at is not null;

-- By settled_at, which does not change when a delivery starts: that update stays on its page (HOT).
drop index deliveries_pending;
create index deliveries_pending on deliveries (lane, id) where settled_at is null;

-- Every delivery updates its lane three times and itself twice: vacuum by what changed, not by the table's size, and
-- without the pauses that are meant for spinning disks.
alter table lanes set (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0);
alter table deliveries set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
