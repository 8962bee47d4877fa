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

    /// - Parameters:
    ///   - database: the connections for registrations and reports.
    ///   - reading: the same database with other connections, for statistics; `nil`: statistics use `database`.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    ///   - wakeUps: wakes the loops that send starts and updates; `nil`: those that listen for NOTIFY.
    init(
        _ database: Database, reading: Database? = nil, mostNew: Int? = nil, wakeUps: WakeUps? = nil
    ) {
        self.database = database
        self.reading = reading ?? database
        let transactions = InstallationTransactions(
            database: database, wakeUps: wakeUps ?? WakeUps(database), mostNew: mostNew)
        (registrations, reports) = (Self.batch(transactions.register), Self.batch(transactions.report(_:)))
    }

    private static func batch<Item: Sendable>(
        _ work: @escaping @Sendable ([Item]) async throws -> [Result<Bool, Problem>]
    ) -> Batch<Item, Result<Bool, Problem>> {
        // A second transaction begins only if the first takes long, for example because it waits for a lock. If the
        // database is unreachable for one item, it is unreachable for every item of the batch.
        Batch(
            places: 2, extraPlaceDelay: .milliseconds(50), limit: 200,
            failsWholeBatch: { ($0 as? Problem)?.kind == .storeUnavailable && $0 as? Problem != .contention },
            work: work)
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
            Registration(id: id, secret: SecretHash(of: secret), draft: draft.normalized, now: now.inMicroseconds)
        ).get()
    }

    /// An installation as it is stored.
    ///
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    func installation(_ id: InstallationID, secret: String) async throws -> Contract.Installation {
        let columns: PostgresQuery = """
            i.installation as "installationId", \(Registration.columns), (
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
        return try await known(id, secret, columns, in: database).read()
    }

    /// Deletes everything about an installation. An unknown installation is no error.
    ///
    /// - Throws: `app-not-found`; `wrong-installation-secret`.
    func forget(_ id: InstallationID, secret: String) async throws {
        try await database.transaction { connection in
            let number: Int
            do {
                number = try await known(id, secret, in: connection).decode("id")
            } catch let problem as Problem where problem.kind == .installationNotFound { return }
            // The tokens are noted before their rows are deleted with the installation's.
            try await connection.pipeline([
                "select from installations where id = \(number) for no key update",
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
        let number: Int = try await known(id, secret, in: database).decode("id")
        try await database.query("delete from activities where installation = \(number) and activity = \(activity)")
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

    /// An installation that proves its identity.
    ///
    /// - Parameter columns: expressions over its row `i`.
    /// - Throws: `app-not-found`; `installation-not-found`; `wrong-installation-secret`.
    private func known(
        _ id: InstallationID, _ secret: String, _ columns: PostgresQuery = "i.id", in database: some PostgresQuerying
    ) async throws -> PostgresRow {
        let row = try await database.query(
            "select p.app, i.secret_hash, \(columns) from \(Registration.rows([id]))")[0]
        guard try row.decode(Int32?.self, "app") != nil else { throw Problem.noApp(id.bundleID) }
        guard let hash = try row.decode(SecretHash?.self, "secret_hash") else { throw Self.absent(id) }
        guard hash == SecretHash(of: secret) else { throw Problem.wrongInstallationSecret }
        return row
    }

    static func absent(_ id: InstallationID) -> Problem {
        Problem(
            .installationNotFound,
            "There is no installation \(id.id.words). Register it with a PUT first.")
    }
}
