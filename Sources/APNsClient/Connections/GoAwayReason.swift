internal import Grandstand
internal import JSON

/// Why APNs ended a connection: `{"reason":"…"}` in GOAWAY's debug data (docs/internals/apns.md 6).
struct GoAwayReason: Equatable {
    /// As APNs wrote it, at most 100 characters; `nil` when it said nothing that can be read.
    var text: String?

    init(debugData: [UInt8]) {
        guard let reason = (try? JSONValue(parsing: debugData))?["reason"]?.string, !reason.isEmpty else { return }
        text = String(reason.prefix(100))
    }

    /// Ordinary life of a server: another connection may follow at once. Any other reason is ours to mend, and the next
    /// connection would hear it again.
    var isOrdinary: Bool {
        switch text {
        case nil, "Shutdown", "IdleTimeout", "InternalServerError", "ServiceUnavailable": true
        default: false
        }
    }

    /// A value for metrics: the reason where Apple documents it, so that the labels stay few.
    var label: String {
        switch text {
        case nil: "none"
        case let text? where isOrdinary || text.allSatisfy { $0.isASCII && $0.isLetter } && text.count <= 40: text
        default: "other"
        }
    }
}
