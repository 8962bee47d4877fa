package import GrandstandClient

/// A request that an installation makes about itself.
package enum DeviceRequest: Sendable, Hashable {
    /// Says all it is.
    case register(sequence: Int, facts: InstallationFacts)
    /// Reports an activity in one version.
    case report(id: String, entry: ActivityEntry)
    /// Says what was shown.
    case receipts([GrandstandClient.Receipt])
    /// Asks to be forgotten.
    case forget
}

/// What came of one.
package enum DeviceOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - isNew: the server did not know it before.
    ///   - isSampled: whether it asks for receipts; `nil`: it did not say.
    case accepted(isNew: Bool, isSampled: Bool?)
    case refused(ServerProblem)
    /// No answer came: the server may have taken it or not, or may do so later.
    case unanswered(String)
}

extension ServerProblem {
    /// Whether the same request may be taken later. What has no slug is not Grandstand's answer: a proxy's, a portal's.
    var isPassing: Bool { slug.isEmpty || status == 408 || status == 429 || status >= 500 }
    /// Whether the key in the app opens nothing (any more): asking again with it is in vain.
    var isOfKey: Bool { !slug.isEmpty && (status == 401 || (status == 403 && kind != .wrongInstallationSecret)) }
}
