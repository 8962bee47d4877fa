-- The rights of the two database roles: one that owns the schema, and one that serves. Run it once as the owner
-- of the database, before the first `grandstand migrate`; it needs no superuser, but the right to create roles.
--     psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -v database=grandstand -f roles.sql
-- Then give each a password (\password grandstand_owner) and name them:
--     migrate   DATABASE_URL=postgres://grandstand_owner@…      at each release
--     serve     DATABASE_URL=postgres://grandstand_server@…     the processes
-- It may be run again: what is there stays.
\set ON_ERROR_STOP on

select format('create role %I login', name) from unnest(array['grandstand_owner', 'grandstand_server']) as name
where not exists (select from pg_roles where rolname = name) \gexec

grant connect on database :"database" to grandstand_owner, grandstand_server;
grant usage, create on schema public to grandstand_owner;
grant usage on schema public to grandstand_server;

-- Whoever runs this may act for the owner from here on: what the owner makes later has these rights.
grant grandstand_owner to current_user;
set role grandstand_owner;
alter default privileges in schema public grant select, insert, update, delete on tables to grandstand_server;
alter default privileges in schema public grant usage, select on sequences to grandstand_server;
alter default privileges in schema public grant execute on functions to grandstand_server;

-- What is there already, where the schema was made before.
grant select, insert, update, delete on all tables in schema public to grandstand_server;
grant usage, select on all sequences in schema public to grandstand_server;
grant execute on all functions in schema public to grandstand_server;
reset role;
