internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import Postgres

extension Contract.App {
    /// The bundle ID, which was checked when the app was registered.
    var id: BundleID { get throws(Problem) { try BundleID(allowed: bundleId) } }

    /// The team and the key that sign the provider tokens of an environment.
    func credentials(in environment: APNsEnvironment) -> Credentials {
        let override = environments[environment]
        return Credentials(teamID: override?.teamId ?? teamId, keyID: override?.keyId ?? keyId)
    }

    /// The app's address for calls to APNs.
    func address(in environment: APNsEnvironment) throws(Problem) -> APNsAddress {
        APNsAddress(bundleID: try id, environment: environment, credentials: credentials(in: environment))
    }
}

extension Contract.Overrides {
    /// The team and key of one environment. Since February 2025 Apple also issues keys that are valid in one
    /// environment only.
    subscript(environment: APNsEnvironment) -> Contract.Override? {
        switch environment {
        case .development: development
        case .production: production
        }
    }
}

extension APNsGateway {
    /// The app with the state of the key files that sign for it. That APNs refuses a key is a fact of the app's row.
    func withKeyStates(_ app: Contract.App) -> Contract.App {
        var app = app
        for environment in APNsEnvironment.allCases {
            let name = environment.rawValue
            let file = keyFileState(of: app.credentials(in: environment))
            if file != .ok { app.credentialRefusals[name] = nil }
            app.credentials[name] = file == .ok && app.credentialRefusals[name] != nil ? .refused : file
        }
        return app
    }
}

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
    static func isOfTopic(_ app: AppEnvironment, row: PostgresQuery) -> PostgresQuery {
        "a.topic = \(app.bundleID.topic) and \(row).environment = \(app.environment.rawValue)::environment"
    }
}
