internal import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Postgres

/// Installations in the tables `installations`, `start_tokens`, `follows` and `activities`.
///
/// A goal brings many registrations at once, and a start brings many reports of activities at once. Registrations that
/// arrive together share a transaction (`Batch`), and so do reports. The statements of such a transaction look up all
/// rows by key.
package struct PostgresInstallationStore: InstallationStore {
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

    package func installation(_ id: InstallationID, secret: String) async throws -> KnownInstallation {
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
            select activity, event_key, attributes_type, state, update_token, channel_id from activities
            where installation = \(number) order by reported_at desc, id desc
            """)
        return KnownInstallation(
            state: record.state, suspectTypes: Set(record.tokens.filter { $0.value.suspectSince != nil }.keys),
            activities: try activities.map(Self.activity))
    }

    package func forget(_ id: InstallationID, secret: String) async throws {
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

    package func put(
        _ activity: DeviceActivity, of id: InstallationID, secret: String, now: Date
    ) async throws -> Bool {
        try await reports.run(
            ActivityReport(
                key: try await key(of: id), id: id, secret: SecretHash(of: secret), activity: activity,
                now: now.inMicroseconds)
        ).get()
    }

    package func forget(activity: String, of id: InstallationID, secret: String) async throws {
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
            "There is no installation \(id.id.uuidString.lowercased()). Register it with a PUT first.")
    }

    private static func activity(_ row: PostgresRow) throws -> DeviceActivity {
        DeviceActivity(
            id: try row.decode("activity"), eventKey: try row.word("event_key"),
            attributesType: try row.decode("attributes_type"), state: try row.word("state"),
            updateToken: try row.decode([UInt8]?.self, "update_token").flatMap(DeviceToken.init(bytes:)),
            channelID: try row.decode("channel_id"))
    }
}
