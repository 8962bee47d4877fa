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
    /// The maximum length of a version, locale or time zone that the server accepts.
    private static let longestText = 64

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
        func fitting(_ text: String?) -> String? {
            text.flatMap { $0.isEmpty || $0.unicodeScalars.count > Self.longestText ? nil : $0 }
        }
        appVersion = fitting(appVersion)
        locale = fitting(locale)
        // Names of the tz database consist of such parts, with slashes between them.
        let parts = fitting(timeZone)?.split(separator: "/", omittingEmptySubsequences: false)
        if parts?.allSatisfy({ Self.isName($0, with: "_+-") }) != true { timeZone = nil }
        topics = Set(topics ?? []).sorted()
    }

    /// Whether the text has 1 to 32 characters of `A-Z a-z 0-9 . _ : -`.
    static func isVariant(_ text: String) -> Bool { text.utf8.count <= 32 && isTopic(text) }

    /// Whether the text has 1 to 128 characters of `A-Z a-z 0-9 . _ : -`, like an event key.
    static func isTopic(_ text: String) -> Bool {
        text.utf8.count <= 128 && isName(text, with: "._:-")
    }

    /// Whether the text has at least one character, and only letters and digits of ASCII and the `others`.
    private static func isName(_ text: some StringProtocol, with others: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                    || others.unicodeScalars.contains($0)
            }
    }
}
