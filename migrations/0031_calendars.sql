-- Calendars: files of fixtures, and what each entry said when it was synced last.

alter type webhook_topic add value 'calendar.shrunk' after 'tokens.refused';
alter type audit_action add value 'calendar.created' after 'webhook.disabled';
alter type audit_action add value 'calendar.changed' after 'calendar.created';
alter type audit_action add value 'calendar.deleted' after 'calendar.changed';
alter type audit_action add value 'calendar.synced' after 'calendar.deleted';

create table calendars (
    name text primary key check (name ~ '^[A-Za-z0-9._:-]{1,64}$'),
    -- The body of its PUT.
    declaration json not null,
    -- Seconds between two times that the server fetches it; null: it does not.
    refresh_every integer check (refresh_every > 0),
    -- Apps that the key reached which declared it, by topic; null: all.
    reach text[],
    -- FixtureCalendar.LastSync; null: there was none.
    last_sync json,
    -- The alarm calendar-shrunk, while it stands.
    shrunk_since timestamptz,
    shrunk_vanished integer,
    shrunk_future integer,
    -- While it is being fetched, the end of the lease.
    next_refresh_at timestamptz,
    -- Why the last file was not taken that the server fetched.
    failure text,
    version bigint not null default nextval('resource_versions'),
    created_at timestamptz not null,
    updated_at timestamptz not null,
    check ((shrunk_since is null) = (shrunk_vanished is null)),
    check ((shrunk_since is null) = (shrunk_future is null)),
    check ((refresh_every is null) = (next_refresh_at is null))
);
create index calendars_due on calendars (next_refresh_at) where next_refresh_at is not null;
create index calendars_shrunk on calendars (shrunk_since) where shrunk_since is not null;
create trigger new_version before update of declaration on calendars for each row execute function new_version();

-- Whose events its entries are: who may see the calendar, and whose quotas its alarm stands in.
create table calendar_apps (
    calendar text not null references calendars on delete cascade,
    bundle_id text not null,
    environment environment not null,
    primary key (calendar, bundle_id, environment),
    foreign key (bundle_id, environment) references app_environments on delete cascade
);
create index calendar_apps_by_app on calendar_apps (bundle_id, environment);

create table calendar_entries (
    calendar text not null references calendars on delete cascade,
    uid text not null,
    -- Stays what it was when the event was made.
    event_key text not null unique,
    -- The event as the calendar said it last: what differs from that in the next file is changed, nothing else.
    document json not null,
    -- The last file lacked it, and its event was not cancelled for that.
    is_missing boolean not null,
    -- Its event was cancelled because the calendar said so, or lacked it.
    is_cancelled boolean not null,
    primary key (calendar, uid)
);
