internal import APNsWire
internal import Grandstand
internal import Postgres
internal import Synchronization

/// A cache of the numbers of apps in their environments. A number is never given to another app.
///
/// A cached app may have been deleted, so a transaction that writes for it checks that the app still exists.
final class AppNumbers: Sendable {
    private struct Name: Hashable {
        let topic: String
        let environment: APNsEnvironment
    }

    private let database: Database
    private let known = Mutex<[Name: Int]>([:])

    init(_ database: Database) { self.database = database }

    /// - Parameter isFresh: whether the database is asked in any case.
    /// - Throws: `app-not-found`.
    func number(of app: AppEnvironment, isFresh: Bool = false) async throws -> Int {
        let name = Name(topic: app.bundleID.topic, environment: app.environment)
        if !isFresh, let number = known.withLock({ $0[name] }) { return number }
        let rows = try await database.query(
            """
            select e.id from apps a join app_environments e using (bundle_id)
            where a.topic = \(name.topic) and e.environment = \(name.environment.rawValue)::environment
                and e.deleting_since is null
            """)
        guard let row = rows.first else { throw Self.absent(app.bundleID) }
        let number: Int = try row.decode("id")
        known.withLock { $0[name] = number }
        return number
    }

    /// Forgets the number of an app that no longer exists.
    func forget(_ number: Int) { known.withLock { known in known = known.filter { $0.value != number } } }

    static func absent(_ bundleID: BundleID) -> Problem {
        Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps/\(bundleID) first.")
    }
}
