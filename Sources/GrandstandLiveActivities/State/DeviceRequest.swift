/// A request that an installation makes about itself.
package enum DeviceRequest: Sendable, Hashable {
    /// Says all it is.
    case register(sequence: Int, facts: InstallationFacts)
    /// Reports an activity in one version.
    case report(id: String, entry: ActivityEntry)
    /// Says what was shown.
    case receipts([ShownMessage])
    /// Asks to be forgotten.
    case forget
}

/// What came of one.
package enum DeviceOutcome: Sendable, Hashable {
    /// - Parameters:
    ///   - isNew: the server did not know it before.
    ///   - isSampled: whether it asks for receipts; `nil`: it did not say.
    case accepted(isNew: Bool, isSampled: Bool?)
    case refused(DeviceRefusal)
    /// No answer came: the server may have taken it or not, or may do so later.
    case unanswered(String)
}

/// A refusal, as far as it matters for what comes next.
package struct DeviceRefusal: Sendable, Hashable {
    package var status: Int
    /// The last part of the problem's type.
    package var slug: String
    /// For people.
    package var detail: String
    /// The newest sequence that the server knows, with `stale-installation`.
    package var sequence: Int?
    /// Seconds, from `Retry-After`.
    package var retryAfter: Int?

    package init(status: Int, slug: String, detail: String, sequence: Int? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.slug = slug
        self.detail = detail
        self.sequence = sequence
        self.retryAfter = retryAfter
    }

    /// Whether the same request may be taken later. What has no slug is not Grandstand's answer: a proxy's, a portal's.
    var isPassing: Bool { slug.isEmpty || status == 408 || status == 429 || status >= 500 }
    /// Whether the key in the app opens nothing (any more): asking again with it is in vain.
    package var isOfKey: Bool {
        !slug.isEmpty && (status == 401 || (status == 403 && slug != "wrong-installation-secret"))
    }
}
