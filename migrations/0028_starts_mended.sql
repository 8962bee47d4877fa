-- What perSecond is of: the pushes from the first one until nothing was left. Late followers come when they come.
alter table start_runs
    add column rate_from timestamptz,
    add column rate_until timestamptz,
    add column rate_answered integer not null default 0;

-- Who takes a token over counts as started in runs that were closed lately, too: they may begin anew.
create index start_runs_by_close on start_runs (app, closed_at);
drop index start_runs_open;

-- An activity that was there before a start is not the one it started; null: it was reported to an earlier version.
alter table activities add column first_reported_at timestamptz;
