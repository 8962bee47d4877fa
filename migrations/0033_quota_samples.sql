-- What the quotas of each app were, for plots and audits.

-- A point of time at which all were looked at: who puts it in takes the samples, of all replicas.
create table quota_sample_times (
    at timestamptz primary key
);

create table quota_samples (
    bundle_id text not null,
    environment environment not null,
    -- Seconds that the sample stands for, which end at `at`: 300 or 3600.
    step integer not null check (step in (300, 3600)),
    at timestamptz not null,
    used integer not null,
    reserved integer not null,
    -- The most places taken at once, of the samples in these seconds.
    peak integer not null,
    channel_limit integer not null,
    -- In these seconds.
    created integer not null,
    deleted integer not null,
    primary key (bundle_id, environment, step, at),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index quota_samples_by_age on quota_samples (step, at);
