internal import APNsWire
internal import Grandstand
internal import GrandstandContract

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
    /// The app with the state of the key files that sign for it. A key is also refused if APNs refused it for another
    /// replica.
    func withKeyFiles(_ app: Contract.App) -> Contract.App {
        var app = app
        for environment in APNsEnvironment.allCases {
            let name = environment.rawValue
            let use = KeyUse(credentials: app.credentials(in: environment), environment: environment)
            let (file, refusal) = keyFile(of: use)
            if file != .ok {
                app.credentialRefusals[name] = refusal.map { .init(reason: $0.reason.text, since: $0.since) }
            }
            app.credentials[name] = file == .ok && app.credentialRefusals[name] != nil ? .refused : file
        }
        return app
    }
}
