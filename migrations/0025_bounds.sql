-- What strangers with the key of an app can make grow is bounded, and a push that waits can be withdrawn.

alter type audit_action add value 'push.withdrawn' after 'push.accepted';

-- Counts an installation's receipts by event, and finds them when it is forgotten.
create index receipts_by_installation on receipts (installation, event_key);

-- Lanes of tokens that no push was taken for. The lock keeps whoever takes one now from finding such a lane (TokenLanes).
do $$ begin perform pg_advisory_xact_lock(7230518204417736); end $$;
delete from lanes l where l.kind = 'token' and not exists (select from broadcasts b where b.lane = l.id);
