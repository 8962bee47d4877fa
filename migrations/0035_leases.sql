-- Who does what only one replica may do at a time, by the database's clock: a lease that is not renewed ends by itself.
create table leases (
    name text primary key,
    holder uuid not null,
    leased_until timestamptz not null
);

-- The oldest message that waits for its webhook, whatever was delivered before it.
create index webhook_deliveries_waiting on webhook_deliveries (created_at) where settled_at is null;
