package import GrandstandClient

/// The facts of an installation are the body of its registration. Their `sequence` is set when they are sent.
package typealias InstallationFacts = GrandstandClient.InstallationDraft

extension InstallationFacts {
    /// No facts: `systemVersion` is empty until the system's state has been read, and nothing is sent before this
    /// reading.
    package static let unread = InstallationFacts(systemVersion: "", startTokens: [], topics: [])

    /// Start tokens in hex, by type of attributes.
    package var tokens: [String: String] {
        get { Dictionary((startTokens ?? []).map { ($0.attributesType, $0.token) }) { $1 } }
        set {
            startTokens = newValue.map { .init(attributesType: $0.key, token: $0.value) }
                .sorted { $0.attributesType < $1.attributesType }
        }
    }

    /// The maximum number of topics that the server accepts for an installation.
    package static let mostTopics = 200

    /// Takes over the facts of the system. What people follow stays.
    mutating func see(_ condition: HostCondition) {
        let known = self
        self = condition.facts
        variant = known.variant
        topics = known.topics
        // Remove tokens of types that the app no longer has. Keep known tokens that the system has not provided again
        // yet.
        let kept = known.tokens.filter { condition.types.contains($0.key) }
        tokens = kept.merging(tokens) { $1 }
    }

    /// Removes texts that the server would refuse, so that a registration does not fail because of them.
    mutating func normalise() {
        appVersion = Self.allowed(appVersion, "appVersion")
        locale = Self.allowed(locale, "locale")
        timeZone = Self.allowed(timeZone, "timeZone")
        topics = Set(topics ?? []).sorted()
    }

    /// - Returns: `nil` for a text that openapi.yaml does not allow for this member.
    private static func allowed(_ text: String?, _ member: String) -> String? {
        guard case .object(let members, _) = shape,
            case .text(let rule)? = members.first(where: { $0.name == member })?.shape
        else { return nil }
        return text.flatMap { rule.accepts($0) ? $0 : nil }
    }
}
