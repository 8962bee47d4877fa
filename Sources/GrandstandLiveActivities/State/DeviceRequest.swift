internal import GrandstandClient

/// A request of an installation about itself.
package enum DeviceRequest: Sendable, Hashable {
    /// Uploads all facts.
    case register(InstallationFacts)
    /// Reports the state that an activity had at one `DeviceActivity.version`.
    case report(DeviceActivity)
    /// Asks the server to forget the installation.
    case forget

    /// What the request is about, and the version of it.
    var subject: (name: String, version: Int) {
        switch self {
        case .register(let facts): ("facts", facts.sequence ?? 0)
        case .report(let activity): ("activity \(activity.id)", activity.version)
        case .forget: ("leaving", 0)
        }
    }
}

extension ServerProblem {
    /// Whether the same request may succeed later. An answer without a slug comes from a proxy or a captive portal, and
    /// not from Grandstand.
    var isTemporary: Bool { slug.isEmpty || status == 408 || status == 429 || status >= 500 }
    /// Whether the app's key is not valid, so that no request with it can succeed.
    var refusesKey: Bool {
        !slug.isEmpty && (status == 401 || status == 403 && kind != .wrongInstallationSecret)
    }
}
