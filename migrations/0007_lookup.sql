-- Every replica keeps the lookup's answers, and the keys, in memory. Whatever changes one leaves a line in a journal and
-- is announced, in its own transaction: the announcement is fast, the journal tells a replica exactly what was committed
-- since it last looked. Triggers, so that an operator's SQL is noticed as well.

create table lookup_journal (
    -- The transaction: whether it can be seen in a snapshot tells whether a replica knows of it.
    version xid8 not null default pg_current_xact_id(),
    -- 'event KEY', 'events' (any may have changed), 'keys'.
    subject text not null,
    at timestamptz not null default now(),
    -- Lines of different transactions never meet, so nobody waits for anybody here.
    primary key (version, subject)
);
create index lookup_journal_by_time on lookup_journal (at);

create function announce_lookup(what text) returns void language plpgsql as $$
begin
    insert into lookup_journal (subject) values (what) on conflict do nothing;
    perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
end
$$;

-- The subject is the trigger's argument.
create function announce_subject() returns trigger language plpgsql as $$
begin
    perform announce_lookup(tg_argv[0]);
    return null;
end
$$;

create function announce_event() returns trigger language plpgsql as $$
begin
    perform announce_lookup('event ' || new.key);
    return null;
end
$$;
-- An event that is new or gone is announced by its audiences.
create trigger announce_lookup after update on events for each row
    when ((old.starts_at, old.ends_at, old.first_update_at, old.ended_at, old.cancelled_at)
        is distinct from (new.starts_at, new.ends_at, new.first_update_at, new.ended_at, new.cancelled_at))
    execute function announce_event();
create trigger announce_truncation after truncate on events
    for each statement execute function announce_subject('events');

create function announce_audience() returns trigger language plpgsql as $$
begin
    if tg_op <> 'INSERT' then perform announce_lookup('event ' || old.event_key); end if;
    if tg_op <> 'DELETE' then perform announce_lookup('event ' || new.event_key); end if;
    return null;
end
$$;
create trigger announce_lookup
    after insert or delete or update of event_key, bundle_id, environment, storage_policy, lane on audiences
    for each row execute function announce_audience();
create trigger announce_truncation after truncate on audiences
    for each statement execute function announce_subject('events');

create function announce_lane() returns trigger language plpgsql as $$
begin
    perform announce_lookup('event ' || u.event_key) from audiences u where u.lane = new.id;
    return null;
end
$$;
create trigger announce_lookup after update of channel on lanes for each row
    when (old.channel is distinct from new.channel) execute function announce_lane();

create function announce_channel() returns trigger language plpgsql as $$
begin
    perform announce_lookup('event ' || u.event_key)
    from lanes l join audiences u on u.lane = l.id where l.channel = new.id;
    return null;
end
$$;
create trigger announce_lookup after update of state, channel_id on channels for each row
    when ((old.state, old.channel_id) is distinct from (new.state, new.channel_id))
    execute function announce_channel();

create trigger announce_keys
    after insert or delete or update of name, secret_hash, scopes, bundle_id, revoked_at on api_keys
    for each statement execute function announce_subject('keys');
create trigger announce_truncation after truncate on api_keys
    for each statement execute function announce_subject('keys');
