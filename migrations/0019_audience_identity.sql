-- An audience with another storage policy is the same audience: its channel is replaced like one that APNs lost, and
-- webhooks hear of it. Before, only a channel of the same policy counted as an earlier one.
create or replace function tell_of_replaced_channel() returns trigger language plpgsql as $$
declare
    earlier channels;
begin
    -- `offset 0`: the event's channels, by its key, whatever the planner thinks of an index by app.
    select * into earlier from (select * from channels where event_key = new.event_key offset 0) c
    where c.bundle_id = new.bundle_id and c.environment = new.environment
        and c.id <> new.id and c.channel_id is not null
    order by c.created_at desc limit 1;
    if found then
        perform note_for_webhooks(
            'channel.replaced', new.changed_at, new.bundle_id, channel => to_json(new), replaced => to_json(earlier));
    end if;
    return null;
end
$$;
