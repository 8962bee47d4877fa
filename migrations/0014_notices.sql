-- A process that changes a lookup's answer hears of it from its own session, before the commit is answered, so that
-- nobody who was told of the change is given the answer before it by the same process. Announcements follow the commit,
-- and reach other processes. Only sessions that ask for notices get them.

create or replace function announce_lookup(what text) returns void language plpgsql as $$
begin
    insert into lookup_journal (subject) values (what) on conflict do nothing;
    perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
    if current_setting('grandstand.notices', true) = 'on' then
        raise notice '%', what using errcode = 'GS001';
    end if;
end
$$;
