-- The queue of alternative.py, filled with the lanes that the server's own events have.
create table peer_lanes (
    id bigint primary key, event_key text not null unique, channel_id text not null, last_timestamp bigint not null default 0,
    has_work boolean not null default false, due_at timestamptz not null default clock_timestamp(), leased_until timestamptz
);
create index peer_lanes_due on peer_lanes (due_at) where has_work;
create table peer_messages (
    seq bigint generated always as identity primary key, id uuid not null unique, lane bigint not null references peer_lanes,
    body text not null, alerts boolean not null, state text not null default 'waiting', timestamp bigint,
    tries int not null default 0, accepted_at timestamptz not null default clock_timestamp(), settled_at timestamptz
);
create index peer_messages_open on peer_messages (lane, seq) where state in ('waiting', 'sending');
insert into peer_lanes (id, event_key, channel_id)
    select l.id, u.event_key, c.channel_id from audiences u join lanes l on l.id = u.lane join channels c on c.id = l.channel;
