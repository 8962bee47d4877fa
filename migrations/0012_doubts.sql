-- Doubts: what one list or one refusal says of a channel is looked into before it counts.

-- Which of the channels nobody knows an unanswered creation made cannot be told: nothing was taken.
alter type reconciliation_alarm add value 'ambiguous-creation';
-- A channel that was given up as missing is listed again, and its event has another: it is unmanaged.
alter type audit_action add value 'channel.released' after 'channel.missing';

-- When the list that was last read whole was asked for: what it lacked did not exist then.
alter table app_environments add column apple_asked_at timestamptz;

-- When the last list without the channel was asked for; null: none was read before it was first seen, or it was ours
-- once.
alter table unmanaged_channels add column lacked_at timestamptz;
-- An unanswered creation may have made it, and so may somebody else.
alter table unmanaged_channels add column contested boolean not null default false;

-- When Apple said, refusing a message, that it does not know this channel; null: there is no doubt.
alter table channels add column doubted_at timestamptz;
-- From then on a reconciliation is to look into that.
alter table channels add column examine_at timestamptz;
-- When the last doubt turned out to be wrong.
alter table channels add column confirmed_at timestamptz;
alter table channels add check ((doubted_at is null) = (examine_at is null));
create index channels_doubted on channels (bundle_id, environment, examine_at) where examine_at is not null;

-- Apple was asked to delete it, and did or did not know it. Only such a channel is deleted again when Apple lists it.
alter table channels add column deletion_confirmed boolean not null default false;
-- What Apple confirmed has no reason; what only vanished, or gave way, says so.
update channels set deletion_confirmed = true where state = 'deleted' and channel_id is not null and reason is null;
