internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import GrandstandContract
internal import Postgres

/// Installations of apps, as the apps register them, in the tables `installations`, `start_tokens`, `follows` and
/// `activities`. Each is authenticated by its own secret. The hash of the secret is stored at the first registration.
///
/// A goal brings many registrations at once, and a start brings many reports of activities at once. Registrations that
/// arrive together share a transaction (`Batch`), and so do reports. The statements of such a transaction look up all
/// rows by key.
package struct InstallationStore: Sendable {
    let database: Database
    /// For queries that read many rows.
    let longReads: Database
    let registrations: Batch<Registration, Result<Bool, Problem>>
    let reports: Batch<ActivityReport, Result<Bool, Problem>>

    /// - Parameters:
    ///   - database: the connections for registrations and reports.
    ///   - reading: the same database with other connections, for statistics; `nil`: statistics use `database`.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    ///   - wakeUps: wakes the loops that send starts and updates; `nil`: those that listen for NOTIFY.
    init(
        _ database: Database, reading: Database? = nil, mostNew: Int? = nil, wakeUps: WakeUps? = nil
    ) {
        self.database = database
        self.longReads = reading ?? database
        let transactions = InstallationTransactions(
            database: database, wakeUps: wakeUps ?? WakeUps(database), newPerHour: mostNew)
        // A second transaction begins only if the first takes long, for example because it waits for a lock.
        registrations = Batch(slots: 2, limit: 200, work: transactions.register)
        reports = Batch(slots: 2, limit: 200, work: transactions.record(_:))
    }

    /// Stores the state that an installation's app reports. A repetition changes nothing.
    ///
    /// If the installation now follows an event whose start is running, the same commit adds the installation to the
    /// start.
    ///
    /// - Parameter refusal: thrown if the installation is new.
    /// - Returns: whether the installation is new.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than the
    ///   stored one.
    package func put(
        _ draft: Contract.InstallationDraft, of id: InstallationID, secret: String, unlessNew refusal: Problem? = nil,
        now: Date
    ) async throws -> Bool {
        try await registrations.run(
            Registration(
                of: id, secretHash: SecretHash(of: secret), draft, unlessNew: refusal, now: now.asStored)
        ).get()
    }

    /// An installation as it is stored.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> Contract.Installation {
        let columns: PostgresQuery = """
            , i.installation as "installationId", \(Registration.columns), (
                select coalesce(json_agg(json_build_object('attributesType', attributes_type,
                    'token', '…' || right(encode(token, 'hex'), 6), 'suspect', suspect_since is not null)
                    order by attributes_type collate "C"), '[]')
                from start_tokens where installation = i.id) as "startTokens", (
                select coalesce(json_agg(json_build_object('activityId', activity, 'eventKey', event_key,
                    'attributesType', attributes_type, 'state', state,
                    'updateToken', '…' || right(encode(update_token, 'hex'), 6), 'channelId', channel_id)
                    order by reported_at desc, id desc), '[]')
                from activities where installation = i.id) as activities
            """
        return try await authenticate(id, secret, columns, in: database).read()
    }

    /// Deletes everything about an installation. An unknown installation is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws {
        try await database.transaction { connection in
            let number: Int
            do {
                number = try await authenticate(id, secret, in: connection).decode("id")
            } catch let problem as Problem where problem.kind == .installationNotFound { return }
            // The tokens are noted before their rows are deleted with the installation's.
            try await connection.pipeline([
                "select from installations where id = \(number) for no key update",
                RegistrationWrites.noteLost(
                    "select installation, attributes_type, app, token from start_tokens where installation = \(number)",
                    closedAfter: Date(timeIntervalSince1970: 0)),
                InstallationTotals.deleteDevices("id = \(number)"),
            ])
        }
    }

    /// Records an activity as its app reports it, and confirms the start that created it, even if APNs' answer to that
    /// start was lost. A new or changed token puts the activity into its event's crowd. A token that APNs refused is
    /// used again when it is reported again. The activities of an installation are limited
    /// (`DeviceBounds.maxActivities`).
    ///
    /// - Returns: whether the activity is new.
    /// - Throws: `app-not-found`; `installation-not-found`; `event-not-found`, also for an event without an audience of
    ///   the app in its environment; `wrong-installation-secret`.
    func put(
        _ draft: Contract.ActivityDraft, as activity: String, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool {
        var draft = draft
        draft.updateToken = draft.updateToken?.lowercased()
        return try await reports.run(
            ActivityReport(
                id: id, secret: SecretHash(of: secret), activityID: activity, draft: draft,
                now: now.asStored)
        ).get()
    }

    /// Deletes an activity. An unknown activity is no error.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func forget(activity: String, of id: InstallationID, secret: String) async throws {
        let number: Int = try await authenticate(id, secret, in: database).decode("id")
        try await database.query("delete from activities where installation = \(number) and activity = \(activity)")
    }

    // MARK: Identity

    /// The number of an app (`app_environments.id`). A number is never given to another app.
    static func appNumber(of app: AppEnvironment) -> PostgresQuery {
        """
        (select e.id from apps a join app_environments e using (bundle_id)
        where a.topic = \(app.bundleID.topic) and e.environment = \(app.environment.rawValue)::environment)
        """
    }

    /// An installation that proves its identity.
    ///
    /// - Parameter columns: further expressions over its row `i`, each after a comma.
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    private func authenticate(
        _ id: InstallationID, _ secret: String, _ columns: PostgresQuery = "", in database: some PostgresQuerying
    ) async throws -> PostgresRow {
        let row = try await database.query(
            "select p.app, i.id, i.secret_hash\(columns) from \(Registration.rows([id]))")[0]
        _ = try row.authenticated(id, SecretHash(of: secret))
        return row
    }

    static func notFound(_ id: InstallationID) -> Problem {
        Problem(
            .installationNotFound,
            "There is no installation \(id.id.text). Register it with a PUT first.")
    }
}

extension PostgresRow {
    /// The numbers of an installation's app and of the installation, in a row of `Registration.rows`.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func authenticated(_ id: InstallationID, _ secret: SecretHash) throws -> (app: Int32, row: Int) {
        guard let app = try decode(Int32?.self, "app") else { throw Problem.noApp(id.bundleID) }
        guard let row = try decode(Int?.self, "id") else { throw InstallationStore.notFound(id) }
        guard try decode("secret_hash") == secret else { throw Problem.wrongInstallationSecret }
        return (app, row)
    }
}

extension InstallationStore {
    /// Counts of an app's installations in an environment: systems, locales, frequent pushes, tokens by state. The
    /// counts never list people. Apps choose the names of languages and types, so the most frequent hundred are listed.
    func statistics(of app: AppEnvironment) async throws -> Contract.InstallationStatistics {
        let isOfApp: PostgresQuery = "app = \(Self.appNumber(of: app))"
        let tokens: PostgresQuery = """
            json_build_object('active', count(*) filter (where suspect_since is null),
                'suspect', count(*) filter (where suspect_since is not null))
            """
        func each(_ name: PostgresQuery, _ value: PostgresQuery = "count(*)", in table: PostgresQuery) -> PostgresQuery
        {
            """
            (select coalesce(json_object_agg(name, n), '{}') from (
                select \(name) as name, \(value) as n from \(table) where \(isOfApp)
                group by 1 order by count(*) desc, 1 limit 100) t)
            """
        }
        return try await longReads.query(
            """
            select count(*) as installations, \(each("system_version / 1000", in: "installations")) as systems,
                \(each("lower(split_part(translate(coalesce(locale, 'und'), '_', '-'), '-', 1))", in: "installations"))
                    as locales,
                count(*) filter (where not live_activities_enabled) as "liveActivitiesDisabled",
                count(*) filter (where not frequent_pushes_enabled) as "frequentPushesDisabled",
                \(each("attributes_type", tokens, in: "start_tokens")) as "startTokens", (
                    select \(tokens) from activities
                    where \(isOfApp) and update_token is not null and state in ('active', 'stale')) as "updateTokens"
            from installations where \(isOfApp)
            """)[0].read()
    }
}

extension InstallationTotals {
    /// The columns of an account in a row `d`, which may be null.
    ///
    /// - Parameter now: the hour of this time counts as the present hour.
    static func columns(at now: Date) -> PostgresQuery {
        """
        coalesce(d.installations, 0) as "devices.installations",
        case when d.hour = \(hour(of: now)) then d.created else 0 end as "devices.created"
        """
    }

    static func hour(of now: Date) -> PostgresQuery { "date_trunc('hour', \(now)::timestamptz, 'UTC')" }

    /// Counts created or deleted installations, as the last statement of the transaction that writes them.
    ///
    /// - Parameters:
    ///   - installations: `app` of each, to follow `from`.
    ///   - hour: when they were created; `nil`: they are deleted.
    static func record(_ installations: PostgresQuery, createdIn hour: PostgresQuery?) -> PostgresQuery {
        let sign = hour == nil ? -1 : 1
        return """
            insert into device_accounts as d
            select app, \(sign) * count(*), \(hour ?? "'epoch'"), \(max(0, sign)) * count(*)
            from \(installations) group by app order by app
            on conflict (app) do update set installations = d.installations + excluded.installations,
                created = case when excluded.hour > d.hour then 0 else d.created end + excluded.created,
                hour = greatest(d.hour, excluded.hour)
            """
    }

    /// Deletes installations and counts them.
    ///
    /// - Parameter condition: to follow `where`.
    /// - Returns: a row for each deleted installation.
    static func deleteDevices(_ condition: PostgresQuery) -> PostgresQuery {
        """
        with gone as (delete from installations where \(condition) returning app),
            counted as (\(record("gone", createdIn: nil)))
        select from gone
        """
    }
}
