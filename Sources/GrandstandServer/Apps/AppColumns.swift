internal import APNsWire
internal import Grandstand
internal import Postgres

/// The columns `bundle_id` and `environment`, with which tables identify an app in an environment.
enum AppColumns {
    /// Whether a row is of this app.
    ///
    /// - Parameter row: the row's name in the statement; `nil`: no other row of the statement has columns with these
    ///   names.
    static func isOf(_ app: AppEnvironment, row: PostgresQuery? = nil) -> PostgresQuery {
        let prefix: PostgresQuery = if let row { "\(row)." } else { "" }
        return """
            \(prefix)bundle_id = \(app.bundleID.rawValue) and \(prefix)environment = \(app.environment.rawValue)::environment
            """
    }

    /// Whether a row is of the environment of this app, and the row `a` of `apps` is the app, in whatever case the caller
    /// wrote it.
    static func isNamed(_ app: AppEnvironment, row: PostgresQuery) -> PostgresQuery {
        "a.topic = \(app.bundleID.topic) and \(row).environment = \(app.environment.rawValue)::environment"
    }

    static func app(_ row: PostgresRow) throws -> AppEnvironment {
        AppEnvironment(bundleID: try row.word("bundle_id"), environment: try row.word("environment"))
    }
}
