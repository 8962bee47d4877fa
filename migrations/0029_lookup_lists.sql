-- Lists for apps say an event's name, kind and topics: a change of these is a change of what lookups answer.
drop trigger announce_lookup on events;
create trigger announce_lookup after update on events for each row
    when ((old.name, old.kind, old.topics, old.starts_at, old.ends_at, old.first_update_at, old.ended_at, old.cancelled_at)
        is distinct from
        (new.name, new.kind, new.topics, new.starts_at, new.ends_at, new.first_update_at, new.ended_at, new.cancelled_at))
    execute function announce_event();
