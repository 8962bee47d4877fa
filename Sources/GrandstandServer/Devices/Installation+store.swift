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
    let numbers: AppNumbers
    let registrations: Batch<Registration, Result<Bool, Problem>>
    let reports: Batch<ActivityReport, Result<Bool, Problem>>

    /// The maximum number of transactions of each kind at a time: registrations and reports of activities. A second
    /// transaction begins only if the first takes long, for example because it waits for a lock.
    private static let places = 2
    /// One connection for each place, and two for reading and deleting.
    package static let connections = 2 * places + 2
    private static let extraPlaceDelay = Duration.milliseconds(50)
    private static let limit = 200

    /// - Parameters:
    ///   - database: has `connections` connections with the outbox's session settings.
    ///   - reading: the same database with other connections, for statistics; `nil`: statistics use `database`.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    ///   - outages: is told when the background loops that send starts cannot be woken (`WakeUps`).
    package init(
        _ database: Database, reading: Database? = nil, mostNew: Int? = nil, outages: OutageLog? = nil
    ) {
        self.database = database
        self.reading = reading ?? database
        let numbers = AppNumbers(database)
        self.numbers = numbers
        let transaction = RegistrationTransaction(
            database: database, numbers: numbers, wakeUps: WakeUps(database, outages: outages), mostNew: mostNew)
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
    /// If the installation now follows an event whose start is running, the same commit puts the installation into the
    /// queue of the start.
    ///
    /// - Returns: whether the installation is new.
    /// - Throws: `app-not-found`; `wrong-installation-secret`; `stale-installation` for a lower sequence than the
    ///   stored one.
    package func put(
        _ state: InstallationState, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool {
        do {
            return try await register(state, of: id, secret: secret, now: now)
        } catch let problem as Problem where problem.kind == .appNotFound {
            // The app may have been registered again, under another number.
            return try await register(state, of: id, secret: secret, now: now)
        }
    }

    private func register(
        _ state: InstallationState, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool {
        let registration = Registration(
            key: try await key(of: id), bundleID: id.bundleID, secret: SecretHash(of: secret), state: state,
            now: now.inMicroseconds)
        return try await registrations.run(registration).get()
    }

    /// An installation as it is stored.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> Contract.Installation {
        let key = try await key(of: id)
        guard let row = try await database.query(InstallationRows.load(.init(keys: [key]))).first else {
            throw Self.absent(id)
        }
        let record = try InstallationRows.record(row)
        guard record.secret == SecretHash(of: secret), let number = record.row else {
            throw Problem.wrongInstallationSecret
        }
        let activities = try await database.query(
            """
            select activity as "activityId", event_key as "eventKey", attributes_type as "attributesType", state,
                '…' || right(encode(update_token, 'hex'), 6) as "updateToken", channel_id as "channelId"
            from activities where installation = \(number) order by reported_at desc, id desc
            """)
        let state = record.details
        return Contract.Installation(
            installationId: id.id.words, sequence: state.sequence, systemVersion: state.systemVersion.description,
            appVersion: state.appVersion, locale: state.locale, variant: state.variant?.rawValue,
            timeZone: state.timeZone, liveActivitiesEnabled: state.liveActivitiesEnabled,
            frequentPushesEnabled: state.frequentPushesEnabled,
            startTokens: record.tokens.sorted { $0.key < $1.key }.map { type, token in
                Contract.StartToken(
                    attributesType: type, token: token.token.description, suspect: token.suspectSince != nil)
            },
            topics: state.topics.sorted().map(\.rawValue), activities: try activities.read())
    }

    /// Deletes everything about an installation. An unknown installation is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws {
        let key = try await key(of: id)
        try await database.transaction { connection in
            guard let number = try await Self.number(of: key, secret, on: connection) else { return }
            // The tokens are noted before their rows are deleted with the installation's.
            try await connection.pipeline([
                InstallationRows.remember(
                    "select installation, attributes_type, app, token from start_tokens where installation = \(number)",
                    closedAfter: Date(timeIntervalSince1970: 0)),
                "delete from installations where id = \(number)",
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
        try await reports.run(
            try ActivityReport(
                key: try await key(of: id), id: id, secret: SecretHash(of: secret), activity: activity, draft,
                now: now.inMicroseconds)
        ).get()
    }

    /// Deletes an activity. An unknown activity is no error.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func forget(activity: String, of id: InstallationID, secret: String) async throws {
        let key = try await key(of: id)
        try await database.transaction { connection in
            guard let number = try await Self.number(of: key, secret, on: connection) else { throw Self.absent(id) }
            try await connection.query(
                "delete from activities where installation = \(number) and activity = \(activity)")
        }
    }

    // MARK: Identity

    func key(of id: InstallationID) async throws -> InstallationKey {
        let app = AppEnvironment(bundleID: id.bundleID, environment: id.environment)
        return InstallationKey(app: try await numbers.number(of: app), id: id.id)
    }

    /// The number of the installation's row. The row is locked, so that the caller can change rows that belong to the
    /// installation. `nil`: the installation is not known.
    ///
    /// - Throws: `wrong-installation-secret`.
    static func number(
        of key: InstallationKey, _ secret: String, on connection: some PostgresQuerying
    ) async throws -> Int? {
        let rows = try await connection.query(
            """
            select id, secret_hash from installations where app = \(Int32(key.app)) and installation = \(key.id)
            for no key update
            """)
        guard let row = rows.first else { return nil }
        guard SecretHash(try row.decode("secret_hash")) == SecretHash(of: secret) else {
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
