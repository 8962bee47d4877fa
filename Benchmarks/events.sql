-- One app, `events` events, each with an active channel. Without triggers: nobody listens yet.
insert into apps (bundle_id, name, team_id, key_id, channel_limit, created_at, updated_at)
    values ('com.example.Stadium', 'Stadium', 'SIMULATOR1', 'SIMULATOR1', 10000, now(), now());
insert into app_environments (bundle_id, environment)
    values ('com.example.Stadium', 'development'), ('com.example.Stadium', 'production');
insert into events (key, name, starts_at, ends_at, topics, created_at, updated_at)
    select 'match-' || n, 'Match ' || n, now() + n * interval '1 minute', now() + (n + 120) * interval '1 minute',
        array['team:' || n % 200], now(), now()
    from generate_series(1, :events) n;
insert into channels (id, bundle_id, environment, channel_id, storage_policy, state, event_key, created_at, changed_at)
    select gen_random_uuid(), 'com.example.Stadium', 'production', encode(sha256(n::text::bytea), 'base64'),
        'mostRecentMessageStored', 'active', 'match-' || n, now(), now()
    from generate_series(1, :events) n;
insert into audiences (event_key, bundle_id, environment, storage_policy, channel)
    select event_key, bundle_id, environment, storage_policy, id from channels;
vacuum analyze;
