-- An app and environment may have several audiences in an event, told apart by a variant: languages, home and away. ''
-- is the audience without one, and all there were before.
alter table audiences
    add column variant text not null default '',
    -- The priority of its messages where a broadcast says none; null: as the message is.
    add column priority smallint check (priority in (1, 5, 10)),
    add check (variant ~ '^[A-Za-z0-9._:-]{0,32}$'),
    -- The tokens of an app are one crowd.
    add check (variant = '' or delivery = 'channel'),
    drop constraint audiences_pkey,
    add primary key (event_key, bundle_id, environment, variant);

-- The lane of an audience, and what of the audience its messages depend on. A crowd's is that of the audience whose
-- content it gets.
alter table lanes
    add column variant text not null default '',
    add column priority smallint check (priority in (1, 5, 10));

-- Which audience of its event a channel is for. Nothing of the version before names the keys that are widened here in an
-- `on conflict`.
alter table channels add column variant text not null default '';
drop index channels_one_per_audience;
create unique index channels_one_per_audience on channels (event_key, bundle_id, environment, variant)
    where event_key is not null and state in ('creating', 'active', 'failed', 'missing');
drop index channels_by_event;
create index channels_by_event on channels (event_key, bundle_id, environment, variant, storage_policy, created_at)
    where event_key is not null;

-- What a broadcast says otherwise to some variants: {"de": {"contentState"?, "alert"?}}, as it was written.
alter table broadcasts add column by_variant json;

drop trigger announce_lookup on audiences;
create trigger announce_lookup
    after insert or delete or update of event_key, bundle_id, environment, variant, position, storage_policy, lane, delivery
    on audiences
    for each row execute function announce_audience();

create or replace function tell_of_replaced_channel() returns trigger language plpgsql as $$
declare
    earlier channels;
begin
    -- `offset 0`: the event's channels, by its key, whatever the planner thinks of an index by app.
    select * into earlier from (select * from channels where event_key = new.event_key offset 0) c
    where c.bundle_id = new.bundle_id and c.environment = new.environment and c.variant = new.variant
        and c.id <> new.id and c.channel_id is not null
    order by c.created_at desc limit 1;
    if found then
        perform note_for_webhooks(
            'channel.replaced', new.changed_at, new.bundle_id, channel => to_json(new), replaced => to_json(earlier));
    end if;
    return null;
end
$$;

-- A crowd is led by the audience that stands for its app: the one without a variant, else the first.
create or replace view audience_lanes as
    select event_key, bundle_id, environment, position, lane as beside, lane, delivery = 'channel' as is_lead
    from audiences
    union all
    select c.event_key, u.bundle_id, u.environment, u.position, u.lane, c.lane,
        u.delivery = 'tokens' and c.kind = 'crowd'
    from crowds c
    cross join lateral (select bundle_id, environment from app_environments where id = c.app offset 0) ae
    cross join lateral (
        select * from audiences
        where event_key = c.event_key and bundle_id = ae.bundle_id and environment = ae.environment
        order by variant <> '', position limit 1) u;
