package import GrandstandClient

/// A request of an installation about itself.
package enum DeviceRequest: Sendable, Hashable {
    /// Uploads all facts.
    case register(sequence: Int, facts: InstallationFacts)
    /// Reports the state that an activity had at one `ActivityEntry.version`.
    case report(id: String, entry: ActivityEntry)
    /// Asks the server to forget the installation.
    case forget
}

/// The outcome of a request.
package enum DeviceOutcome: Sendable, Hashable {
    /// - Parameter isNew: whether the server did not know the installation before.
    case accepted(isNew: Bool)
    case refused(ServerProblem)
    /// No answer came. The server may have processed the request, or may still process it.
    case unanswered(String)
}

extension ServerProblem {
    /// Whether the same request may succeed later. An answer without a slug comes from a proxy or a captive portal, and
    /// not from Grandstand.
    var isTemporary: Bool { slug.isEmpty || status == 408 || status == 429 || status >= 500 }
    /// Whether the app's key is not valid, so that no request with it can succeed.
    var refusesKey: Bool { !slug.isEmpty && (status == 401 || (status == 403 && kind != .wrongInstallationSecret)) }
}
