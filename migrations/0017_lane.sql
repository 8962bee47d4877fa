-- What a lane decides from is in its rows: sizes, and the priority of a message that has lost its alert.

alter table deliveries
    -- Bytes of the content that the message goes with, the relevance score included; null: none, or not known.
    add column content_bytes integer,
    -- Bytes of its alert; null: none, or not known.
    add column alert_bytes integer,
    -- Its priority without its alert; null: not known, so 10 for an end and 5 for an update.
    add column plain_priority smallint check (plain_priority in (1, 5, 10));

update deliveries d set
    content_bytes = octet_length(c.content_state::text) + coalesce(octet_length(c.relevance_score::text), 0),
    alert_bytes = octet_length(b.alert::text), plain_priority = b.priority
from broadcasts b, broadcasts c
where d.settled_at is null and b.id = d.broadcast_id and c.id = coalesce(d.content_of, d.broadcast_id);
