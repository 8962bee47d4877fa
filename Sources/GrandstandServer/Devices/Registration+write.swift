internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// Installations with their start tokens and topics: locked and loaded by key.
extension Registration {
    /// The columns of an installation `i` that its app reported, but for tokens and topics.
    static let columns: PostgresQuery = """
        i.sequence, concat(i.system_version / 1000, '.', i.system_version % 1000) as "systemVersion",
        i.app_version as "appVersion", i.locale, i.variant, i.time_zone as "timeZone",
        i.live_activities_enabled as "liveActivitiesEnabled", i.frequent_pushes_enabled as "frequentPushesEnabled",
        array(select topic from follows where installation = i.id order by topic collate "C") as topics
        """

    /// Loads installations in one statement, so that an installation's row, tokens and topics are consistent.
    ///
    /// - Parameter new: an expression for the number of an installation that has no row.
    static func load(_ all: [Registration], new: PostgresQuery = "0") -> PostgresQuery {
        """
        select p.app, coalesce(i.id, \(new)) as id, i.secret_hash, i.seen_at, i.tokens_paced_until,
            coalesce((
                select created from device_accounts where i.id is null and app = p.app
                    and hour = \(InstallationTotals.hour(of: all.map(\.now).max() ?? .distantPast))), 0) as created,
            \(columns), (
                select coalesce(json_agg(json_build_object('attributesType', attributes_type, 'token',
                    case when suspect_since is null then encode(token, 'hex') else '' end)
                    order by attributes_type collate "C"), '[]')
                from start_tokens where installation = i.id) as "startTokens"
        from \(rows(all.map(\.id))) order by n.place
        """
    }

    /// Locks the installations, and those that have one of their tokens, in order of their rows, so that no two
    /// transactions wait for each other.
    static func lock(_ all: [Registration], of apps: [Int32]) -> PostgresQuery {
        let tokens = zip(all, apps).flatMap { one, app in one.tokens.map { (app: app, heir: 0, draft: $0) } }
        return """
            select from installations where id = any(array(
                select i.id from \(rows(all.map(\.id)))
                union
                select h.id from \(holders(tokens)))) order by id for no key update
            """
    }

    /// Locks apps, so that their rows stay until the transaction ends.
    static func lockApps(_ apps: [Int32]) -> PostgresQuery {
        "select from app_environments e join apps a using (bundle_id) where e.id = any(\(apps)) for key share of a"
    }

    /// Tokens `n` of their heirs, and the other installations `h` that have them now.
    static func holders(_ tokens: [(app: Int32, heir: Int, draft: Contract.StartTokenDraft)]) -> PostgresQuery {
        """
        unnest(\(tokens.map(\.app)), \(tokens.map(\.heir)), \(tokens.map(\.draft.attributesType)),
            \(tokens.map(\.draft.token))) as n(app, heir, attributes_type, token)
        cross join lateral (
            select installation as id from start_tokens where app = n.app and attributes_type = n.attributes_type
                and token = decode(n.token, 'hex') and installation <> n.heir offset 0) h
        """
    }

    /// Looks up installations: `n` has the place in the list, `p.app` is the number of the app, and `i` the row. An app
    /// that does not exist or is being deleted is null, and so is a row that does not exist.
    static func rows(_ ids: [InstallationID]) -> PostgresQuery {
        """
        unnest(\(ids.map(\.bundleID.topic)), \(ids.map(\.environment.rawValue)), \(ids.map(\.id)))
            with ordinality as n(bundle_id, environment, installation, place)
        cross join lateral (select (
            select e.id from apps a join app_environments e using (bundle_id) where a.topic = n.bundle_id
                and e.environment = n.environment::environment and e.deleting_since is null) as app offset 0) p
        left join lateral (
            select * from installations where app = p.app and installation = n.installation offset 0) i on true
        """
    }
}

extension Registration.Row {
    /// - Parameter row: a row of `Registration.load`.
    init(_ row: PostgresRow, of app: Int32) throws {
        self.init()
        (self.app, id, appNewCount) = (app, try row.decode("id"), try row.decode("created"))
        secretHash = try row.decode("secret_hash")
        guard secretHash != nil else { return }
        (state, seenAt) = (try row.read(), try row.decode("seen_at"))
        pacedUntil = try row.decode("tokens_paced_until")
    }
}

/// What the registrations of one transaction write. The locks are held.
struct RegistrationWrites {
    let changes: [Registration]
    let now: Date

    /// The new tokens of installations. If another installation has such a token, both are on one phone, which must not
    /// get a second activity.
    private var tokens: [(app: Int32, heir: Int, draft: Contract.StartTokenDraft)] {
        changes.flatMap { change in change.newTokens.map { (change.row.app, change.row.id, $0) } }
    }

    /// The statements, for one round trip; the last but one adds late followers to runs. Old tokens are deleted before
    /// new ones are inserted, so that a token never belongs to two installations.
    var statements: [PostgresQuery] {
        guard !changes.isEmpty else { return [] }
        let new: PostgresQuery = "unnest(\(changes.filter { $0.row.state == nil }.map(\.row.app))) as c(app)"
        return [
            upsert, inheritStarts, Self.noteLost(deleteTokens, closedAfter: now - Self.reopenPeriod), insertTokens,
        ] + writeFollows + [
            StartStore.enlist(changes.map(\.row.id), of: changes.map(\.row.app), at: now),
            InstallationTotals.record(new, createdIn: InstallationTotals.hour(of: now)),
        ]
    }

    /// Inserts or updates the rows. The numbers of new rows were drawn before. If another replica inserts the same
    /// installation meanwhile, this fails, and the transaction is repeated.
    private var upsert: PostgresQuery {
        let (rows, drafts) = (changes.map(\.row), changes.map(\.draft))
        return """
            insert into installations (id, app, installation, secret_hash, sequence, system_version, app_version,
                locale, variant, time_zone, live_activities_enabled, frequent_pushes_enabled, created_at, seen_at,
                tokens_paced_until) overriding system value
            select * from unnest(\(rows.map(\.id)), \(rows.map(\.app)), \(changes.map(\.id.id)),
                \(changes.map(\.secretHash)), \(drafts.map(\.sequence)),
                \(drafts.map { Int32(SystemVersion.number($0.systemVersion)) }), \(drafts.map(\.appVersion)),
                \(drafts.map(\.locale)), \(drafts.map(\.variant)), \(drafts.map(\.timeZone)),
                \(drafts.map(\.liveActivitiesEnabled)), \(drafts.map(\.frequentPushesEnabled)),
                \(rows.map(\.seenAt)), \(rows.map(\.seenAt)), \(rows.map(\.pacedUntil)))
            on conflict (id) do update set sequence = excluded.sequence, system_version = excluded.system_version,
                app_version = excluded.app_version, locale = excluded.locale, variant = excluded.variant,
                time_zone = excluded.time_zone, live_activities_enabled = excluded.live_activities_enabled,
                frequent_pushes_enabled = excluded.frequent_pushes_enabled, seen_at = excluded.seen_at,
                tokens_paced_until = excluded.tokens_paced_until
            """
    }

    /// Deletes the tokens that the installations no longer have, and those that they take over.
    private var deleteTokens: PostgresQuery {
        let own = changes.flatMap { change in change.removedTokens.map { (change.row.id, $0.attributesType) } }
        return """
            delete from start_tokens t using (
                select * from unnest(\(own.map(\.0)), \(own.map(\.1))) as o(installation, attributes_type)
                union
                select h.id, n.attributes_type from \(Registration.holders(tokens))) r
            where t.installation = r.installation and t.attributes_type = r.attributes_type
            returning t.installation, t.attributes_type, t.app, t.token
            """
    }

    /// Inserts the new tokens in the order of the unique index, so that transactions that wait for each other's tokens
    /// cannot deadlock.
    private var insertTokens: PostgresQuery {
        """
        insert into start_tokens (installation, attributes_type, app, token, registered_at)
        select installation, attributes_type, app, decode(token, 'hex'), \(now)
        from unnest(\(tokens.map(\.heir)), \(tokens.map(\.draft.attributesType)), \(tokens.map(\.app)),
            \(tokens.map(\.draft.token))) as n(installation, attributes_type, app, token)
        order by app, attributes_type, token
        """
    }

    /// Topics have no spaces, so those of an installation are one text.
    private var writeFollows: [PostgresQuery] {
        let following = changes.filter { $0.topics != ($0.row.state?.topics ?? []) }
        let ids = following.map(\.row.id)
        let topics = following.map { $0.topics.joined(separator: " ") }
        return [
            """
            delete from follows f using unnest(\(ids), \(topics)) as r(installation, topics)
            where f.installation = r.installation and f.topic <> all(string_to_array(r.topics, ' '))
                and f.installation = any(\(ids))
            """,
            """
            insert into follows (installation, topic, app)
            select installation, unnest(string_to_array(topics, ' ')), app
            from unnest(\(ids), \(topics), \(following.map(\.row.app))) as r(installation, topics, app)
            on conflict do nothing
            """,
        ]
    }

    // MARK: Starts under way

    /// Seconds for which a run that was closed may open again: a stopped start may be resumed, or an event declared or
    /// opened again.
    private static let reopenPeriod: TimeInterval = 86_400

    /// Adds an installation that registers a token to runs, together with the installations that had this token before
    /// and got the start, may have got it, or may be getting it at this moment. The claim that takes the installation's
    /// start checks these former holders. No run is locked here, because otherwise anybody could stop a start by
    /// changing tokens.
    private var inheritStarts: PostgresQuery {
        """
        insert into starts as s (run, installation, due_at, at, former)
        select r.id, o.heir, \(now), \(now), array_agg(f)
        from (
            select n.app, n.heir, n.token, h.id as holder from \(Registration.holders(tokens))
            union all
            select *, null from unnest(\(tokens.map(\.app)), \(tokens.map(\.heir)), \(tokens.map(\.draft.token))) t) o
        cross join lateral (\(Self.runs(of: "o.app", closedAfter: now - Self.reopenPeriod))) r
        cross join lateral (
            select o.holder as id where o.holder is not null
            union all
            select installation from starts
            where o.holder is null and run = r.id and token = sha256(decode(o.token, 'hex'))
                and installation <> o.heir) p
        left join lateral (select former from starts where run = r.id and installation = p.id offset 0) h on true
        cross join lateral unnest(array_append(h.former, p.id)) f
        group by r.id, o.heir order by o.heir, r.id
        on conflict (run, installation) do update set state = 'pending', due_at = least(s.due_at, excluded.due_at),
            reason = null, former = array(select distinct unnest(s.former || excluded.former))
        where \(StartStore.maySend)
        """
    }

    private static func runs(of app: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        select id, attributes_type from start_runs
        where app = \(app) and (closed_at is null or closed_at > \(date)) offset 0
        """
    }

    /// Notes tokens that their installations lose with the starts that these installations got (`inheritStarts`).
    ///
    /// - Parameter lost: rows with installation, attributes_type, app and token.
    static func noteLost(_ lost: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        with lost as (\(lost))
        update starts s set token = sha256(l.token) from lost l
        cross join lateral (\(runs(of: "l.app", closedAfter: date))) r
        where s.run = r.id and s.installation = l.installation and r.attributes_type = l.attributes_type
        """
    }
}
