internal import APNsWire
internal import Grandstand
internal import Postgres
internal import Synchronization

/// A cache of numbers. Each app has a number in each of its environments (`app_environments.id`). A number is never
/// given to another app.
///
/// An app may have been deleted after its number was cached. So a transaction that writes rows with the number checks
/// that the app still exists.
final class AppNumbers: Sendable {
    private struct Name: Hashable {
        let topic: String
        let environment: APNsEnvironment
    }

    private let database: Database
    private let known = Mutex<[Name: Int]>([:])

    init(_ database: Database) { self.database = database }

    /// - Parameter isFresh: whether the database is asked even if the number is in the cache.
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
        guard let row = rows.first else { throw Problem.noApp(app.bundleID) }
        let number: Int = try row.decode("id")
        known.withLock { $0[name] = number }
        return number
    }

    /// Forgets the number of an app that no longer exists.
    func forget(_ number: Int) { known.withLock { known in known = known.filter { $0.value != number } } }
}
