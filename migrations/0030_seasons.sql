-- What organisers say before a match and take back in it.

alter type audit_action add value 'event.reopened' after 'event.cancelled';

alter table events
    -- Seconds before starts_at; channels_open_at has the time that they come to. An old replica that writes one of those
    -- two and not this has declared the time itself: the seconds hold only while the three agree.
    add column channels_open_before integer check (channels_open_before >= 0),
    -- What a message of it has when it says nothing itself; null: nothing.
    add column defaults json,
    -- When its organiser took its end back: a sign of life.
    add column reopened_at timestamptz;
