internal import APNsWire
internal import Grandstand
internal import Postgres
internal import Synchronization

/// The numbers of apps in their environments, each asked for once: a number is never given to another app.
///
/// One that is remembered may have been deleted; a transaction that writes for it checks that it is still there.
final class AppNumbers: Sendable {
    private struct Name: Hashable {
        let topic: String
        let environment: APNsEnvironment
    }

    private let database: Database
    private let known = Mutex<[Name: Int]>([:])

    init(_ database: Database) { self.database = database }

    /// - Parameter isFresh: the database is asked, whatever is remembered.
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

    /// The number is no app's any more.
    func forget(_ number: Int) { known.withLock { known in known = known.filter { $0.value != number } } }

    static func absent(_ bundleID: BundleID) -> Problem {
        Problem(.appNotFound, "There is no app \(bundleID). Register it with PUT /v1/apps first.")
    }
}
