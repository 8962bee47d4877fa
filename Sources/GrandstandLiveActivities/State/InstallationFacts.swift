/// The facts of an installation: the body of its registration without the sequence.
package struct InstallationFacts: Codable, Sendable, Hashable {
    /// The version of the system, e.g. `18.4.1`. It is `nil` until the system's state has been read, and nothing is
    /// sent before this reading.
    package var systemVersion: String?
    package var appVersion: String?
    /// The preferred language in BCP 47 format, e.g. `de-AT`.
    package var locale: String?
    /// The variant of events that people want to see; `nil`: the locale decides.
    package var variant: String?
    /// The IANA name of the time zone.
    package var timeZone: String?
    package var liveActivitiesEnabled = true
    package var frequentPushesEnabled = true
    /// Start tokens in hex, by type of attributes.
    package var startTokens: [String: String] = [:]
    /// The followed topics, sorted, without duplicates.
    package var topics: [String] = []

    package init() {}

    /// The maximum number of topics that the server accepts for an installation.
    package static let mostTopics = 200
    /// The maximum length of a version, locale or time zone that the server accepts.
    static let longestText = 64

    /// Removes texts that the server would refuse, so that a registration does not fail because of them.
    mutating func normalise() {
        func fitting(_ text: String?) -> String? {
            text.flatMap { $0.isEmpty || $0.unicodeScalars.count > Self.longestText ? nil : $0 }
        }
        appVersion = fitting(appVersion)
        locale = fitting(locale)
        timeZone = fitting(timeZone).flatMap { Self.isTimeZone($0) ? $0 : nil }
        topics = Set(topics).sorted()
    }

    /// Whether the text looks like a name of the tz database.
    private static func isTimeZone(_ text: String) -> Bool {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty
                && part.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }

    /// Whether the text has 1 to 32 characters of `A-Z a-z 0-9 . _ : -`.
    package static func isVariant(_ text: String) -> Bool { text.utf8.count <= 32 && isTopic(text) }

    /// Whether the text has 1 to 128 characters of `A-Z a-z 0-9 . _ : -`, like an event key.
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
