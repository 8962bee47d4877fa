
CREATE TYPE public.audit_action AS ENUM (
    'app.registered',
    'app.changed',
    'app.deleted',
    'channel.created',
    'channel.refused',
    'channel.unanswered',
    'channel.adopted',
    'channel.imported',
    'channel.retired',
    'channel.deleted',
    'channel.missing',
    'event.created',
    'event.changed',
    'event.cancelled',
    'event.expired',
    'key.created',
    'key.revoked',
    'key.rotated',
    'quirk.learned',
    'quirk.set'
);

CREATE TYPE public.broadcast_event AS ENUM (
    'update',
    'end'
);

CREATE TYPE public.channel_state AS ENUM (
    'creating',
    'active',
    'retiring',
    'deleting',
    'deleted',
    'missing',
    'failed'
);

CREATE TYPE public.delivery_state AS ENUM (
    'waiting',
    'queued',
    'sending',
    'accepted',
    'superseded',
    'expired',
    'rejected',
    'cancelled'
);

CREATE TYPE public.environment AS ENUM (
    'development',
    'production'
);

CREATE TYPE public.key_scope AS ENUM (
    'lookup',
    'organise',
    'operate',
    'admin'
);

CREATE TYPE public.reconciliation_alarm AS ENUM (
    'capability-off',
    'list-incomplete'
);

CREATE TYPE public.storage_policy AS ENUM (
    'noMessageStored',
    'mostRecentMessageStored'
);

CREATE FUNCTION public.announce_audience() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    if tg_op <> 'INSERT' then perform announce_lookup('event ' || old.event_key); end if;
    if tg_op <> 'DELETE' then perform announce_lookup('event ' || new.event_key); end if;
    return null;
end
$$;

CREATE FUNCTION public.announce_channel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || u.event_key)
    from lanes l join audiences u on u.lane = l.id where l.channel = new.id;
    return null;
end
$$;

CREATE FUNCTION public.announce_event() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || new.key);
    return null;
end
$$;

CREATE FUNCTION public.announce_lane() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup('event ' || u.event_key) from audiences u where u.lane = new.id;
    return null;
end
$$;

CREATE FUNCTION public.announce_lookup(what text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    insert into lookup_journal (subject) values (what) on conflict do nothing;
    perform pg_notify('grandstand_lookup', pg_current_xact_id()::text || ' ' || what);
end
$$;

CREATE FUNCTION public.announce_subject() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    perform announce_lookup(tg_argv[0]);
    return null;
end
$$;

CREATE FUNCTION public.refuse_change_of_audit_log() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end
$$;

CREATE TABLE public.api_key_uses (
    key uuid NOT NULL,
    used_at timestamp with time zone NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    prefix text NOT NULL,
    scopes public.key_scope[] NOT NULL,
    bundle_id text,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    expires_at timestamp with time zone,
    replaced_by uuid,
    CONSTRAINT api_keys_scopes_check CHECK ((cardinality(scopes) > 0)),
    CONSTRAINT api_keys_secret_hash_check CHECK ((length(secret_hash) = 32))
);

CREATE TABLE public.app_environments (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    team_id text,
    key_id text,
    apple_count integer,
    apple_listed_at timestamp with time zone,
    alarm public.reconciliation_alarm,
    reconciled_at timestamp with time zone DEFAULT now() NOT NULL,
    reconcile_at timestamp with time zone,
    reconcile_failures integer DEFAULT 0 NOT NULL,
    reconciling_by uuid,
    reconciling_until timestamp with time zone,
    CONSTRAINT app_environments_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{10}$'::text)),
    CONSTRAINT app_environments_team_id_check CHECK ((team_id ~ '^[A-Za-z0-9]{10}$'::text))
);

CREATE TABLE public.apps (
    bundle_id text NOT NULL,
    topic text GENERATED ALWAYS AS (lower(bundle_id)) STORED NOT NULL,
    name text NOT NULL,
    team_id text NOT NULL,
    key_id text NOT NULL,
    channel_limit integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT apps_bundle_id_check CHECK ((bundle_id ~ '^[A-Za-z0-9.-]{1,155}$'::text)),
    CONSTRAINT apps_channel_limit_check CHECK (((channel_limit >= 1) AND (channel_limit <= 10000))),
    CONSTRAINT apps_key_id_check CHECK ((key_id ~ '^[A-Za-z0-9]{10}$'::text)),
    CONSTRAINT apps_team_id_check CHECK ((team_id ~ '^[A-Za-z0-9]{10}$'::text))
);

CREATE TABLE public.audiences (
    event_key text NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    storage_policy public.storage_policy NOT NULL,
    "position" integer NOT NULL,
    lane bigint NOT NULL
);

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    api_key uuid,
    action public.audit_action NOT NULL,
    bundle_id text,
    environment public.environment,
    channel uuid,
    channel_id text,
    event_key text,
    reason text,
    signing_key text,
    apns_status integer,
    apns_reason text,
    apns_request_id text
);

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.broadcasts (
    id uuid NOT NULL,
    event_key text,
    event public.broadcast_event NOT NULL,
    content_state json,
    alert json,
    stale_date bigint,
    dismissal_date bigint,
    relevance_score json,
    priority smallint,
    expires_in integer,
    apns_expiration bigint,
    audiences json,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    send_at timestamp with time zone,
    scheduled boolean DEFAULT false NOT NULL,
    channel uuid,
    CONSTRAINT broadcasts_check CHECK (((event_key IS NULL) OR (channel IS NULL))),
    CONSTRAINT broadcasts_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10])))
);

CREATE TABLE public.channels (
    id uuid NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    channel_id text,
    storage_policy public.storage_policy NOT NULL,
    state public.channel_state NOT NULL,
    event_key text,
    label text,
    reason text,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    leased_until timestamp with time zone,
    retire_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    called_at timestamp with time zone,
    needed_until timestamp with time zone,
    CONSTRAINT channels_channel_id_check CHECK (((length(channel_id) >= 1) AND (length(channel_id) <= 1024))),
    CONSTRAINT channels_check CHECK (((state = ANY (ARRAY['creating'::public.channel_state, 'failed'::public.channel_state, 'deleted'::public.channel_state])) OR (channel_id IS NOT NULL))),
    CONSTRAINT channels_check1 CHECK (((state <> 'retiring'::public.channel_state) OR (retire_at IS NOT NULL))),
    CONSTRAINT channels_check2 CHECK (((called_at IS NULL) OR (state = 'creating'::public.channel_state)))
);

CREATE TABLE public.deliveries (
    id bigint NOT NULL,
    broadcast_id uuid NOT NULL,
    lane bigint NOT NULL,
    state public.delivery_state NOT NULL,
    is_end boolean NOT NULL,
    alerting boolean NOT NULL,
    priority smallint NOT NULL,
    apns_expiration bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    apns_timestamp bigint,
    apns_request_id uuid NOT NULL,
    apns_unique_id text,
    channel_id text,
    reason text,
    settled_at timestamp with time zone,
    CONSTRAINT deliveries_check CHECK (((state = ANY (ARRAY['waiting'::public.delivery_state, 'queued'::public.delivery_state, 'sending'::public.delivery_state])) = (settled_at IS NULL))),
    CONSTRAINT deliveries_priority_check CHECK ((priority = ANY (ARRAY[1, 5, 10])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_insert_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.deliveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.events (
    key text NOT NULL,
    name text NOT NULL,
    kind text,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    channels_open_at timestamp with time zone,
    metadata json,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    first_update_at timestamp with time zone,
    ended_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    CONSTRAINT events_key_check CHECK ((key ~ '^[A-Za-z0-9._:-]{1,128}$'::text))
);

CREATE TABLE public.idempotency_keys (
    id bytea NOT NULL,
    fingerprint bytea NOT NULL,
    accepted_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    resource uuid,
    answer bytea,
    CONSTRAINT idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
    CONSTRAINT idempotency_keys_id_check CHECK ((length(id) = 32))
);

CREATE TABLE public.lanes (
    id bigint NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    storage_policy public.storage_policy NOT NULL,
    channel uuid,
    due_at timestamp with time zone,
    leased_by uuid,
    leased_until timestamp with time zone,
    last_timestamp bigint DEFAULT 0 NOT NULL,
    ready_at timestamp with time zone,
    fenced_at timestamp with time zone,
    closed_at timestamp with time zone,
    newest_broadcast uuid,
    is_urgent boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.lanes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.lanes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.lookup_journal (
    version xid8 DEFAULT pg_current_xact_id() NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.provider_tokens (
    team_id text NOT NULL,
    key_id text NOT NULL,
    fingerprint bytea NOT NULL,
    issued_at bigint NOT NULL,
    token text NOT NULL,
    CONSTRAINT provider_tokens_fingerprint_check CHECK ((length(fingerprint) = 32))
);

CREATE TABLE public.quirks (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    name text NOT NULL,
    value text,
    learned_at timestamp with time zone,
    evidence text,
    believed_until timestamp with time zone,
    examining_until timestamp with time zone,
    CONSTRAINT quirks_check CHECK ((((value IS NULL) = (learned_at IS NULL)) AND ((value IS NULL) = (evidence IS NULL))))
);

CREATE TABLE public.reconciliations (
    id uuid NOT NULL,
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone NOT NULL,
    report json NOT NULL
);

CREATE TABLE public.unmanaged_channels (
    bundle_id text NOT NULL,
    environment public.environment NOT NULL,
    channel_id text NOT NULL,
    storage_policy public.storage_policy,
    first_seen_at timestamp with time zone NOT NULL,
    CONSTRAINT unmanaged_channels_channel_id_check CHECK (((length(channel_id) >= 1) AND (length(channel_id) <= 1024)))
);

ALTER TABLE ONLY public.api_key_uses
    ADD CONSTRAINT api_key_uses_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.app_environments
    ADD CONSTRAINT app_environments_pkey PRIMARY KEY (bundle_id, environment);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (bundle_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_topic_key UNIQUE (topic);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_lane_key UNIQUE (lane);

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_pkey PRIMARY KEY (event_key, bundle_id, environment);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lookup_journal
    ADD CONSTRAINT lookup_journal_pkey PRIMARY KEY (version, subject);

ALTER TABLE ONLY public.provider_tokens
    ADD CONSTRAINT provider_tokens_pkey PRIMARY KEY (team_id, key_id, fingerprint);

ALTER TABLE ONLY public.quirks
    ADD CONSTRAINT quirks_pkey PRIMARY KEY (bundle_id, environment, name);

ALTER TABLE ONLY public.reconciliations
    ADD CONSTRAINT reconciliations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.unmanaged_channels
    ADD CONSTRAINT unmanaged_channels_pkey PRIMARY KEY (bundle_id, environment, channel_id);

CREATE INDEX api_keys_by_time ON public.api_keys USING btree (created_at DESC, id DESC);

CREATE INDEX audiences_by_app ON public.audiences USING btree (bundle_id, environment, event_key);

CREATE INDEX audit_log_by_app ON public.audit_log USING btree (bundle_id, id);

CREATE INDEX audit_log_by_time ON public.audit_log USING btree (at);

CREATE INDEX broadcasts_by_channel ON public.broadcasts USING btree (channel, accepted_at DESC, id DESC) WHERE (channel IS NOT NULL);

CREATE INDEX broadcasts_by_event ON public.broadcasts USING btree (event_key, accepted_at DESC, id DESC);

CREATE INDEX broadcasts_by_time ON public.broadcasts USING btree (accepted_at) WHERE (NOT scheduled);

CREATE INDEX broadcasts_scheduled ON public.broadcasts USING btree (send_at) WHERE scheduled;

CREATE UNIQUE INDEX channels_apple_id ON public.channels USING btree (bundle_id, environment, channel_id) WHERE (channel_id IS NOT NULL);

CREATE INDEX channels_by_event ON public.channels USING btree (event_key, bundle_id, environment, created_at) WHERE (event_key IS NOT NULL);

CREATE INDEX channels_by_state ON public.channels USING btree (bundle_id, environment, state);

CREATE INDEX channels_due ON public.channels USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX channels_listed ON public.channels USING btree (bundle_id, environment, created_at, id);

CREATE UNIQUE INDEX channels_one_per_audience ON public.channels USING btree (event_key, bundle_id, environment) WHERE ((event_key IS NOT NULL) AND (state = ANY (ARRAY['creating'::public.channel_state, 'active'::public.channel_state, 'failed'::public.channel_state, 'missing'::public.channel_state])));

CREATE INDEX channels_unsettled ON public.channels USING btree (next_attempt_at) WHERE (called_at IS NOT NULL);

CREATE INDEX deliveries_by_broadcast ON public.deliveries USING btree (broadcast_id);

CREATE INDEX deliveries_pending ON public.deliveries USING btree (lane, id) WHERE (settled_at IS NULL);

CREATE INDEX events_by_creation ON public.events USING btree (created_at, key);

CREATE INDEX events_open_ended ON public.events USING btree (ends_at) WHERE ((ended_at IS NULL) AND (cancelled_at IS NULL));

CREATE INDEX idempotency_keys_by_time ON public.idempotency_keys USING btree (accepted_at);

CREATE INDEX lanes_by_channel ON public.lanes USING btree (channel) WHERE (channel IS NOT NULL);

CREATE INDEX lanes_due ON public.lanes USING btree (environment, bundle_id, is_urgent, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX lookup_journal_by_time ON public.lookup_journal USING btree (at);

CREATE INDEX reconciliations_listed ON public.reconciliations USING btree (bundle_id, environment, started_at DESC, id DESC);

CREATE TRIGGER announce_keys AFTER INSERT OR DELETE OR UPDATE OF name, secret_hash, scopes, bundle_id, revoked_at, expires_at ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('keys');

CREATE TRIGGER announce_lookup AFTER INSERT OR DELETE OR UPDATE OF event_key, bundle_id, environment, storage_policy, lane ON public.audiences FOR EACH ROW EXECUTE FUNCTION public.announce_audience();

CREATE TRIGGER announce_lookup AFTER UPDATE OF state, channel_id ON public.channels FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) OR (old.channel_id IS DISTINCT FROM new.channel_id))) EXECUTE FUNCTION public.announce_channel();

CREATE TRIGGER announce_lookup AFTER UPDATE ON public.events FOR EACH ROW WHEN ((((((old.starts_at IS DISTINCT FROM new.starts_at) OR (old.ends_at IS DISTINCT FROM new.ends_at)) OR (old.first_update_at IS DISTINCT FROM new.first_update_at)) OR (old.ended_at IS DISTINCT FROM new.ended_at)) OR (old.cancelled_at IS DISTINCT FROM new.cancelled_at))) EXECUTE FUNCTION public.announce_event();

CREATE TRIGGER announce_lookup AFTER UPDATE OF channel ON public.lanes FOR EACH ROW WHEN ((old.channel IS DISTINCT FROM new.channel)) EXECUTE FUNCTION public.announce_lane();

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('keys');

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.audiences FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('events');

CREATE TRIGGER announce_truncation AFTER TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.announce_subject('events');

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change_of_audit_log();

ALTER TABLE ONLY public.api_key_uses
    ADD CONSTRAINT api_key_uses_key_fkey FOREIGN KEY (key) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.apps(bundle_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_replaced_by_fkey FOREIGN KEY (replaced_by) REFERENCES public.api_keys(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.app_environments
    ADD CONSTRAINT app_environments_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.apps(bundle_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.audiences
    ADD CONSTRAINT audiences_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id);

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_channel_fkey FOREIGN KEY (channel) REFERENCES public.channels(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE CASCADE;

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_event_key_fkey FOREIGN KEY (event_key) REFERENCES public.events(key) ON DELETE SET NULL;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_broadcast_id_fkey FOREIGN KEY (broadcast_id) REFERENCES public.broadcasts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_lane_fkey FOREIGN KEY (lane) REFERENCES public.lanes(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_channel_fkey FOREIGN KEY (channel) REFERENCES public.channels(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.quirks
    ADD CONSTRAINT quirks_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.reconciliations
    ADD CONSTRAINT reconciliations_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

ALTER TABLE ONLY public.unmanaged_channels
    ADD CONSTRAINT unmanaged_channels_bundle_id_environment_fkey FOREIGN KEY (bundle_id, environment) REFERENCES public.app_environments(bundle_id, environment) ON DELETE CASCADE;

