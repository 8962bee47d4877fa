-- Broadcasts to a channel that belongs to no event.
alter table broadcasts add column channel uuid references channels on delete cascade;
alter table broadcasts add check (event_key is null or channel is null);
create index broadcasts_by_channel on broadcasts (channel, accepted_at desc, id desc) where channel is not null;
