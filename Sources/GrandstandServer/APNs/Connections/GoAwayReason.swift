internal import APNsWire
internal import Grandstand
internal import JSON

/// Why APNs ended a connection: `{"reason":"…"}` in GOAWAY's debug data (docs/internals/apns.md 6).
struct GoAwayReason: Equatable {
    /// The reason in APNs' words, at most 100 characters; `nil`: there is no readable reason.
    var text: String?

    init(debugData: [UInt8]) {
        guard let reason = (try? JSONValue(parsing: debugData))?["reason"]?.string, !reason.isEmpty else { return }
        text = String(reason.prefix(100))
    }

    /// Whether the reason is normal for a server, so that a new connection may be opened at once. Any other reason is
    /// about mistakes in the requests, so APNs would end the next connection for the same reason.
    var isOrdinary: Bool {
        switch text {
        case nil, "Shutdown", "IdleTimeout", "InternalServerError", "ServiceUnavailable": true
        default: false
        }
    }

    /// Whether APNs ended the connection because too many device tokens on it were wrong. An app's own users can cause
    /// that with made-up tokens, so other pushes must not wait long for the next connection.
    var concernsDeviceTokens: Bool { ServerMetrics.tokenReasons.contains { $0.rawValue == text } }

    /// The value for metrics: the reason if it has only letters, at most 40; `none` without a reason. Other texts
    /// become `other`, so that there are few label values.
    var label: String {
        switch text {
        case nil: "none"
        case let text? where isOrdinary || text.allSatisfy { $0.isASCII && $0.isLetter } && text.count <= 40: text
        default: "other"
        }
    }
}
