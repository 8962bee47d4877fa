-- The alarm tokens-refused: what follows from token_answers, decided by the transaction that counts.

alter type webhook_topic add value 'tokens.refused' after 'capability.off';

-- The last alarm of an app in an environment. No foreign key, as in token_answers: old ones are pruned with those.
create table token_alarms (
    app integer primary key,
    -- The first minute with refusals that it is about.
    since timestamptz not null,
    -- null: it stands, for a day at most.
    ended_at timestamptz,
    -- The newest minute of token_answers when it was raised or last confirmed, as it was then: what was counted until
    -- then has been judged, and only what came later can end it.
    judged_minute timestamptz not null,
    judged_accepted integer not null,
    judged_suspect integer not null
);
