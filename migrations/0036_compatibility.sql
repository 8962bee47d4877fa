-- Which builds may use this database: those that know the migration `least` and all before it. A build that finds migrations
-- it does not know goes on if it is one of them, so that a release is rolled out while the one before it serves. A migration
-- that takes away what an older build uses, or asks of it what it does not do, raises `least` (scripts/check-migrations).
create table schema_compatibility (
    is_only boolean primary key default true check (is_only),
    least integer not null
);

-- Whatever came after 31 only adds. Builds before this migration do not read the table, and refuse every newer database.
insert into schema_compatibility (least) values (31);
