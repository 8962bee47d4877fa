-- An audience's channel by all that names the audience: no other index serves as many columns of the condition, so no
-- statistics of an empty table lead the planner to one that finds every channel of the app.
drop index channels_by_event;
create index channels_by_event on channels (event_key, bundle_id, environment, storage_policy, created_at)
    where event_key is not null;
