/// What an installation says of itself: the body of its registration but for the sequence.
package struct InstallationFacts: Codable, Sendable, Hashable {
    /// As `18.4.1`; `nil` until the host has said it: nothing is sent before.
    package var systemVersion: String?
    package var appVersion: String?
    /// BCP 47, e.g. `de-AT`.
    package var locale: String?
    /// Which variant of events people want to see; `nil`: the one that the locale chooses.
    package var variant: String?
    /// By its IANA name.
    package var timeZone: String?
    package var liveActivitiesEnabled = true
    package var frequentPushesEnabled = true
    /// In hex, by type of attributes.
    package var startTokens: [String: String] = [:]
    /// Sorted, each once.
    package var topics: [String] = []

    package init() {}

    /// The server keeps so many topics of an installation.
    package static let mostTopics = 200
    /// The longest text the server takes for version, locale and time zone.
    static let longestText = 64

    /// Texts that the server would refuse are left out: a registration must not fail for a name.
    mutating func normalise() {
        func fitting(_ text: String?) -> String? {
            text.flatMap { $0.isEmpty || $0.unicodeScalars.count > Self.longestText ? nil : $0 }
        }
        appVersion = fitting(appVersion)
        locale = fitting(locale)
        timeZone = fitting(timeZone)
        topics = Set(topics).sorted()
    }

    /// 1 to 32 of `A-Z a-z 0-9 . _ : -`.
    package static func isVariant(_ text: String) -> Bool { text.utf8.count <= 32 && isTopic(text) }

    /// 1 to 128 of `A-Z a-z 0-9 . _ : -`, as event keys.
    package static func isTopic(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
