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
    /// - Parameter numberingNew: whether an installation that has no row gets the number of one.
    static func load(_ all: [Registration], numberingNew: Bool = false) -> PostgresQuery {
        let new: PostgresQuery = numberingNew ? "nextval('installations_id_seq')" : "0"
        return """
            select p.app, coalesce(i.id, \(new)) as row, i.id is null as is_new, i.secret_hash, i.seen_at,
                i.tokens_paced_until, \(columns), (
                    select coalesce(json_agg(json_build_object('attributesType', attributes_type, 'token',
                        case when suspect_since is null then encode(token, 'hex') else '' end)
                        order by attributes_type collate "C"), '[]')
                    from start_tokens where installation = i.id) as "startTokens"
            from \(rows(all.map(\.id))) order by n.place
            """
    }

    /// What `load` found, in the order of the registrations.
    static func found(_ rows: PostgresRows) throws -> [Found] {
        try rows.map { row in
            let isNew: Bool = try row.decode("is_new")
            let known =
                isNew
                ? nil
                : Known(
                    secret: try row.decode("secret_hash"), draft: try row.read(),
                    seenAt: try row.decode("seen_at"), pacedUntil: try row.decode("tokens_paced_until"))
            return Found(app: try row.decode("app"), row: try row.decode("row"), known: known)
        }
    }

    /// Locks the installations, and those that have one of their tokens, in order of their rows, so that no two
    /// transactions wait for each other.
    static func lock(_ all: [Registration]) -> PostgresQuery {
        """
        select from installations where id = any(array(
            select i.id from \(rows(all.map(\.id)))
            union
            select h.installation from \(ofTokens(all)))) order by id for no key update
        """
    }

    /// Locks apps, so that their rows stay until the transaction ends.
    static func lockApps(_ apps: [Int32]) -> PostgresQuery {
        "select from app_environments e join apps a using (bundle_id) where e.id = any(\(apps)) for key share of a"
    }

    /// The installations that have tokens of these registrations.
    static func holders(_ all: [Registration]) -> PostgresQuery {
        "select w.place, h.installation, w.attributes_type, w.token from \(ofTokens(all))"
    }

    /// The tokens `w` of registrations, each with the installation `h` that has it.
    private static func ofTokens(_ all: [Registration]) -> PostgresQuery {
        let tokens = all.enumerated().flatMap { place, one in one.tokens.map { (place: place, app: one.id.app, $0) } }
        return """
            unnest(\(tokens.map(\.place)), \(tokens.map(\.app.bundleID.topic)),
                \(tokens.map(\.app.environment.rawValue)), \(tokens.map(\.2.attributesType)), \(tokens.map(\.2.token)))
                as w(place, bundle_id, environment, attributes_type, token)
            cross join lateral (select \(app("w")) as app offset 0) p
            cross join lateral (
                select installation from start_tokens where app = p.app and attributes_type = w.attributes_type
                    and token = decode(w.token, 'hex') offset 0) h
            """
    }

    /// Looks up installations: `n` has the place in the list, `p.app` is the number of the app, and `i` the row. An app
    /// or a row that does not exist is null.
    static func rows(_ ids: [InstallationID]) -> PostgresQuery {
        """
        unnest(\(ids.map(\.bundleID.topic)), \(ids.map(\.environment.rawValue)), \(ids.map(\.id)))
            with ordinality as n(bundle_id, environment, installation, place)
        cross join lateral (select \(app("n")) as app offset 0) p
        left join lateral (
            select * from installations where app = p.app and installation = n.installation offset 0) i on true
        """
    }

    /// The number (`app_environments.id`) of an app that is not being deleted.
    ///
    /// - Parameter row: has its `bundle_id` in lower case and its `environment`.
    private static func app(_ row: PostgresQuery) -> PostgresQuery {
        """
        (select e.id from apps a join app_environments e using (bundle_id) where a.topic = \(row).bundle_id
            and e.environment = \(row).environment::environment and e.deleting_since is null)
        """
    }
}

/// What the registrations of one transaction write. The locks are held.
struct RegistrationWrites {
    private let now: Date
    /// In the order of the registrations.
    private let changes: [Registration.Change]
    private let takeovers: [Takeover]
    /// Late followers: their topics or tokens may let them join starts that are under way. The last statement adds
    /// them.
    let followers: [Registration.Change]

    /// A start token that an installation registers.
    private struct Token {
        let row: Int
        let app: Int32
        let type: String
        let token: String
    }

    /// An installation registers a start token that another installation has. So both installations are on one phone,
    /// which must not get a second activity: a start of the former holder counts for the new one, too.
    private struct Takeover {
        let from: Int
        let token: Token
    }

    /// - Parameters:
    ///   - changes: by the place of the registration.
    ///   - holders: the result of `Registration.holders`.
    init(_ changes: [Int: Registration.Change], holders: PostgresRows, at now: Date) throws {
        self.now = now
        self.changes = changes.sorted { $0.key < $1.key }.map(\.value)
        followers = self.changes.filter(\.isFollower)
        takeovers = try holders.compactMap { holder in
            let from: Int = try holder.decode("installation")
            guard let change = changes[try holder.decode("place")], change.row != from else { return nil }
            return Takeover(
                from: from,
                token: Token(
                    row: change.row, app: change.app, type: try holder.decode("attributes_type"),
                    token: try holder.decode("token")))
        }
    }

    /// The statements, for one round trip. Old tokens are deleted before new ones are inserted, so that a token never
    /// belongs to two installations.
    var statements: [PostgresQuery] {
        guard !changes.isEmpty else { return [] }
        var statements = [upsert, pace]
        let new = changes.filter { $0.old == nil }.map(\.app)
        if !new.isEmpty {
            statements.append(
                DeviceAccount.count("unnest(\(new)) as c(app)", areCreated: true, at: "\(now)::timestamptz"))
        }
        let old =
            changes.flatMap { change in change.oldTokens.map { (change.row, $0.attributesType, nil as String?) } }
            + takeovers.map { ($0.from, $0.token.type, $0.token.token) }
        if !old.isEmpty { statements.append(Self.remember(delete(old), closedAfter: now - Self.day)) }
        // Tokens are written in the order of the unique index, so that transactions that wait for each other's tokens
        // cannot deadlock.
        let tokens = changes.flatMap { change in
            change.newTokens.map { Token(row: change.row, app: change.app, type: $0.attributesType, token: $0.token) }
        }.sorted { ($0.app, $0.type, $0.token) < ($1.app, $1.type, $1.token) }
        if !tokens.isEmpty { statements.append(insert(tokens)) }
        statements += follow
        if !tokens.isEmpty { statements.append(inherit(tokens)) }
        if !takeovers.isEmpty { statements.append(carryOver) }
        if !followers.isEmpty { statements.append(enlist) }
        return statements
    }

    /// Inserts or updates the rows. The numbers of new rows were drawn before. If another replica inserts the same
    /// installation meanwhile, this fails, and the transaction is repeated.
    private var upsert: PostgresQuery {
        let drafts = changes.map(\.draft)
        return """
            insert into installations (id, app, installation, secret_hash, sequence, system_version, app_version,
                locale, variant, time_zone, live_activities_enabled, frequent_pushes_enabled, created_at, seen_at,
                tokens_paced_until) overriding system value
            select * from unnest(\(changes.map(\.row)), \(changes.map(\.app)), \(changes.map(\.registration.id.id)),
                \(changes.map(\.registration.secret)), \(drafts.map(\.sequence)),
                \(changes.map { Int32($0.registration.system.number) }), \(drafts.map(\.appVersion)),
                \(drafts.map(\.locale)), \(drafts.map(\.variant)), \(drafts.map(\.timeZone)),
                \(drafts.map(\.liveActivitiesEnabled)), \(drafts.map(\.frequentPushesEnabled)),
                \(changes.map(\.seenAt)), \(changes.map(\.seenAt)), \(changes.map(\.pacedUntil)))
            on conflict (id) do update set sequence = excluded.sequence, system_version = excluded.system_version,
                app_version = excluded.app_version, locale = excluded.locale, variant = excluded.variant,
                time_zone = excluded.time_zone, live_activities_enabled = excluded.live_activities_enabled,
                frequent_pushes_enabled = excluded.frequent_pushes_enabled, seen_at = excluded.seen_at,
                tokens_paced_until = excluded.tokens_paced_until
            """
    }

    /// Copies an installation's choice about frequent pushes to its activities. Crowds read the choice from the
    /// activities.
    private var pace: PostgresQuery {
        """
        update activities a set frequent = r.frequent
        from unnest(\(changes.map(\.row)), \(changes.map(\.draft.frequentPushesEnabled)))
            as r(installation, frequent)
        where a.installation = r.installation and a.installation = any(\(changes.map(\.row)))
            and a.frequent <> r.frequent
        """
    }

    /// Deletes tokens of the installations themselves by their type. Tokens of former holders are deleted only if the
    /// holders still have them: a holder that got the token after the locks were taken is not locked, and may have
    /// registered another token meanwhile.
    private func delete(_ tokens: [(row: Int, type: String, token: String?)]) -> PostgresQuery {
        let rows = tokens.map(\.row)
        return """
            delete from start_tokens t
            using unnest(\(rows), \(tokens.map(\.type)), \(tokens.map(\.token)))
                as r(installation, attributes_type, token)
            where t.installation = r.installation and t.attributes_type = r.attributes_type
                and (r.token is null or t.token = decode(r.token, 'hex')) and t.installation = any(\(rows))
            returning t.installation, t.attributes_type, t.app, t.token
            """
    }

    private func insert(_ tokens: [Token]) -> PostgresQuery {
        """
        insert into start_tokens (installation, attributes_type, app, token, registered_at)
        select installation, attributes_type, app, decode(token, 'hex'), \(now)
        from unnest(\(tokens.map(\.row)), \(tokens.map(\.type)), \(tokens.map(\.app)), \(tokens.map(\.token)))
            as n(installation, attributes_type, app, token)
        """
    }

    private var follow: [PostgresQuery] {
        var (old, new): ([(row: Int, topic: String)], [(row: Int, topic: String, app: Int32)]) = ([], [])
        for change in changes {
            let (known, wanted) = (Set(change.old?.topics ?? []), Set(change.draft.topics ?? []))
            old += known.subtracting(wanted).map { (change.row, $0) }
            new += wanted.subtracting(known).sorted().map { (change.row, $0, change.app) }
        }
        let removal: PostgresQuery = """
            delete from follows f using unnest(\(old.map(\.row)), \(old.map(\.topic))) as r(installation, topic)
            where f.installation = r.installation and f.topic = r.topic and f.installation = any(\(old.map(\.row)))
            """
        let insertion: PostgresQuery = """
            insert into follows (installation, topic, app)
            select * from unnest(\(new.map(\.row)), \(new.map(\.topic)), \(new.map(\.app)))
            """
        return (old.isEmpty ? [] : [removal]) + (new.isEmpty ? [] : [insertion])
    }

    // MARK: Starts under way

    /// Seconds for which a run that was closed may open again: a stopped start may be resumed, or an event declared or
    /// opened again.
    private static let day: TimeInterval = 86_400

    /// An installation that registers a token counts as started in each run in which an installation that lost this
    /// token counts as started: both are on one phone. The start of an installation that was deleted moves to the new
    /// one, so that it is counted once. While a push to the lost token is under way, the new installation waits for its
    /// outcome.
    private func inherit(_ tokens: [Token]) -> PostgresQuery {
        """
        with known as (
            select s.run, s.installation, n.heir, s.state, s.reason, s.at
            from unnest(\(tokens.map(\.app)), \(tokens.map(\.row)), \(tokens.map(\.token))) as n(app, heir, token)
            cross join lateral (\(Self.runs(of: "n.app", closedAfter: now - Self.day))) r
            cross join lateral (
                select * from starts where run = r.id and token = sha256(decode(n.token, 'hex')) offset 0) s
            where s.installation <> n.heir and s.state <> 'pending'
        ), moved as (
            delete from starts s using known k where s.run = k.run and s.installation = k.installation
                and k.state <> 'sending' and not exists (select from installations where id = k.installation)
        )
        insert into starts (run, installation, state, reason, at, due_at, former)
        select distinct on (run, heir) run, heir, case when state = 'sending' then 'pending' else state end, reason, at,
            case when state = 'sending' then \(now) end, case when state = 'sending' then array[installation] end
        from known order by run, heir, state = 'rejected', state = 'sending'
        on conflict (run, installation) do nothing
        """
    }

    /// If a run is open and the former holder of a token has no result, a push to the former holder may be under way
    /// at this moment. So the new holder is added together with the IDs of the former holders. The claim that takes the
    /// new holder's start checks these former holders. No run is locked here, because otherwise anybody could stop a
    /// start by changing tokens.
    private var carryOver: PostgresQuery {
        """
        insert into starts as s (run, installation, due_at, at, former)
        select r.id, t.new, \(now), \(now), array_agg(f)
        from unnest(\(takeovers.map(\.token.app)), \(takeovers.map(\.from)), \(takeovers.map(\.token.row)))
            as t(app, old, new)
        cross join lateral (select id from start_runs where app = t.app and closed_at is null offset 0) r
        left join lateral (select former from starts where run = r.id and installation = t.old offset 0) h on true
        cross join lateral unnest(array_append(h.former, t.old)) f
        group by t.new, r.id order by t.new, r.id
        on conflict (run, installation) do update set state = 'pending', due_at = least(s.due_at, excluded.due_at),
            reason = null, former = array(select distinct unnest(s.former || excluded.former))
        where \(StartStore.mayChange)
        """
    }

    /// Adds late followers to each open run that they follow and have a token for, unless they already had the run's
    /// start (`StartStore.enlist`).
    private var enlist: PostgresQuery {
        let topics = Set(followers.flatMap(\.registration.topics)).sorted()
        return StartStore.enlist(
            """
            select r.id as run, i.id as installation
            from unnest(\(followers.map(\.row)), \(followers.map(\.app))) as i(id, app)
            cross join lateral (
                select id, topics from start_runs
                where app = i.app and closed_at is null and topics && \(topics) offset 0) r
            where exists (select from follows f where f.installation = i.id and f.topic = any(r.topics))
            """, at: now)
    }

    private static func runs(of app: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        select id, attributes_type from start_runs
        where app = \(app) and (closed_at is null or closed_at > \(date)) offset 0
        """
    }

    /// Notes tokens that their installations lose with the starts that these installations got (`inherit`).
    ///
    /// - Parameter lost: rows with installation, attributes_type, app and token.
    static func remember(_ lost: PostgresQuery, closedAfter date: Date) -> PostgresQuery {
        """
        with lost as (\(lost))
        update starts s set token = sha256(l.token) from lost l
        cross join lateral (\(runs(of: "l.app", closedAfter: date))) r
        where s.run = r.id and s.installation = l.installation and r.attributes_type = l.attributes_type
        """
    }
}
