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
    let reading: Database
    let registrations: Batch<Registration, Result<Bool, Problem>>
    let reports: Batch<ActivityReport, Result<Bool, Problem>>

    /// The maximum number of transactions of each kind at a time: registrations and reports of activities. A second
    /// transaction begins only if the first takes long, for example because it waits for a lock.
    private static let places = 2
    private static let extraPlaceDelay = Duration.milliseconds(50)
    private static let limit = 200

    /// - Parameters:
    ///   - database: the connections for registrations and reports.
    ///   - reading: the same database with other connections, for statistics; `nil`: statistics use `database`.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    ///   - wakeUps: wakes the loops that send starts; `nil`: those that listen for NOTIFY.
    init(
        _ database: Database, reading: Database? = nil, mostNew: Int? = nil, wakeUps: WakeUps? = nil
    ) {
        self.database = database
        self.reading = reading ?? database
        let transaction = RegistrationTransaction(
            database: database, wakeUps: wakeUps ?? WakeUps(database), mostNew: mostNew)
        let reporting = ActivityReportTransaction(database: database)
        // If the database is unreachable for one item, it is unreachable for every item of the batch.
        let failsWholeBatch: @Sendable (any Error) -> Bool = { error in
            guard let problem = error as? Problem else { return false }
            return problem.kind == .storeUnavailable && problem != .contention
        }
        registrations = Batch(
            places: Self.places, extraPlaceDelay: Self.extraPlaceDelay, limit: Self.limit,
            failsWholeBatch: failsWholeBatch
        ) { try await transaction.register($0) }
        reports = Batch(
            places: Self.places, extraPlaceDelay: Self.extraPlaceDelay, limit: Self.limit,
            failsWholeBatch: failsWholeBatch
        ) { try await reporting.report($0) }
    }

    /// Stores the state that an installation's app reports. A repetition changes nothing.
    ///
    /// If the installation now follows an event whose start is running, the same commit adds the installation to the
    /// start.
    ///
    /// - Returns: whether the installation is new.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than the
    ///   stored one.
    package func put(
        _ draft: Contract.InstallationDraft, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool {
        try await registrations.run(
            try Registration(draft, of: id, secret: SecretHash(of: secret), now: now.inMicroseconds)
        ).get()
    }

    /// An installation as it is stored.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> Contract.Installation {
        let app = try await number(of: id.app)
        let rows = try await database.query(
            """
            select secret_hash, installation as "installationId", \(Registration.columns), (
                    select coalesce(json_agg(json_build_object('attributesType', attributes_type,
                        'token', '…' || right(encode(token, 'hex'), 6), 'suspect', suspect_since is not null)
                        order by attributes_type collate "C"), '[]')
                    from start_tokens where installation = i.id) as "startTokens", (
                    select coalesce(json_agg(json_build_object('activityId', activity, 'eventKey', event_key,
                        'attributesType', attributes_type, 'state', state,
                        'updateToken', '…' || right(encode(update_token, 'hex'), 6), 'channelId', channel_id)
                        order by reported_at desc, id desc), '[]')
                    from activities where installation = i.id) as activities
            from installations i where app = \(app) and installation = \(id.id)
            """)
        guard let row = rows.first else { throw Self.absent(id) }
        guard try row.decode("secret_hash") == SecretHash(of: secret) else {
            throw Problem.wrongInstallationSecret
        }
        return try row.read()
    }

    /// Deletes everything about an installation. An unknown installation is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws {
        let app = try await number(of: id.app)
        try await database.transaction { connection in
            guard let number = try await Self.number(of: id, in: app, secret, on: connection) else { return }
            // The tokens are noted before their rows are deleted with the installation's.
            try await connection.pipeline([
                RegistrationWrites.remember(
                    "select installation, attributes_type, app, token from start_tokens where installation = \(number)",
                    closedAfter: Date(timeIntervalSince1970: 0)),
                DeviceAccount.delete("id = \(number)"),
            ])
        }
    }

    /// Records an activity as its app reports it, and confirms the start that created it, even if APNs' answer to that
    /// start was lost. A new or changed token puts the activity into its event's crowd. A token that APNs refused is
    /// used again when it is reported again. The activities of an installation are limited
    /// (`DeviceBounds.activities`).
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
                id: id, secret: SecretHash(of: secret), activity: activity, draft: draft,
                now: now.inMicroseconds)
        ).get()
    }

    /// Deletes an activity. An unknown activity is no error.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func forget(activity: String, of id: InstallationID, secret: String) async throws {
        let app = try await number(of: id.app)
        try await database.transaction { connection in
            guard let number = try await Self.number(of: id, in: app, secret, on: connection) else {
                throw Self.absent(id)
            }
            try await connection.query(
                "delete from activities where installation = \(number) and activity = \(activity)")
        }
    }

    // MARK: Identity

    /// The number of an app (`app_environments.id`). A number is never given to another app.
    ///
    /// - Throws: `app-not-found`.
    func number(of app: AppEnvironment) async throws -> Int32 {
        let rows = try await database.query(
            """
            select e.id from apps a join app_environments e using (bundle_id)
            where a.topic = \(app.bundleID.topic) and e.environment = \(app.environment.rawValue)::environment
                and e.deleting_since is null
            """)
        guard let row = rows.first else { throw Problem.noApp(app.bundleID) }
        return try row.decode("id")
    }

    /// The number of the installation's row. The row is locked, so that the caller can change rows that belong to the
    /// installation. `nil`: the installation is not known.
    ///
    /// - Throws: `wrong-installation-secret`.
    static func number(
        of id: InstallationID, in app: Int32, _ secret: String, on connection: some PostgresQuerying
    ) async throws -> Int? {
        let rows = try await connection.query(
            """
            select id, secret_hash from installations where app = \(app) and installation = \(id.id)
            for no key update
            """)
        guard let row = rows.first else { return nil }
        guard try row.decode("secret_hash") == SecretHash(of: secret) else {
            throw Problem.wrongInstallationSecret
        }
        return try row.decode("id")
    }

    static func absent(_ id: InstallationID) -> Problem {
        Problem(
            .installationNotFound,
            "There is no installation \(id.id.words). Register it with a PUT first.")
    }
}
