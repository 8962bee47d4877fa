-- What builds rely on in a database, one item a line. `has`: what their statements name and read. `asks`: what their
-- rows must satisfy, with the columns concerned. Older builds can run beside a migration only if it removes no `has`
-- and, in existing tables, adds no `asks` (scripts/check-migrations).
with tables as (
    select c.oid, c.relname, c.relkind from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
), columns as (
    select t.relname, t.relkind, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull,
        a.attnotnull and t.relkind = 'r' and not a.atthasdef and a.attidentity = '' as must_be_given
    from tables t join pg_attribute a on a.attrelid = t.oid where a.attnum > 0 and not a.attisdropped
), lines (side, owner, what) as (
    select 'has', relname, 'the relation' from tables
    union all
    select 'has', relname, 'column ' || attname || ' ' || type from columns
    union all
    -- Readers expect a value.
    select 'has', relname, 'a value in each row of ' || attname from columns where attnotnull
    union all
    select 'asks', relname, 'a value for ' || attname from columns where must_be_given
    union all
    select 'has', t.typname, 'enum value ' || e.enumlabel
    from pg_enum e join pg_type t on t.oid = e.enumtypid where t.typnamespace = 'public'::regnamespace
    union all
    -- A reader fails on a value that it does not know. Only the audit log shows such words as they are.
    select 'asks', t.typname, 'to read enum value ' || e.enumlabel
    from pg_enum e join pg_type t on t.oid = e.enumtypid
    where t.typnamespace = 'public'::regnamespace and t.typname <> 'audit_action'
    union all
    -- `on conflict` with columns fails without a unique index of these columns.
    select 'has', t.relname, 'unique ' || regexp_replace(pg_get_indexdef(i.indexrelid), '.* USING ', '')
    from pg_index i join tables t on t.oid = i.indrelid where i.indisunique
    union all
    select 'asks', t.relname, 'unique ' || regexp_replace(pg_get_indexdef(i.indexrelid), '.* USING ', '')
        || '|' || (select string_agg(attname, ' ') from pg_attribute a
            where a.attrelid = t.oid and a.attnum = any(i.indkey::smallint[]))
    from pg_index i join tables t on t.oid = i.indrelid where i.indisunique
    union all
    select 'asks', t.relname, pg_get_constraintdef(k.oid) || '|' || (select string_agg(attname, ' ') from pg_attribute a
        where a.attrelid = t.oid and a.attnum = any(k.conkey))
    from pg_constraint k join tables t on t.oid = k.conrelid where k.contype in ('c', 'f', 'x')
    union all
    select 'has', p.proname, 'function (' || pg_get_function_identity_arguments(p.oid) || ') returns '
        || pg_get_function_result(p.oid)
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
    union all
    select 'has', c.relname, 'the sequence' from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'S'
)
select concat_ws('|', side, owner, what) from lines order by 1;
