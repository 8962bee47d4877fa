internal import APNsWire

/// The operation that a request asks for by its method and path (docs/internals/apns.md 1.2, 2.1 and 3.1). Every route
/// is served in both environments.
package struct Route: Hashable, Sendable {
    /// The names are those of the control API, too.
    package enum Operation: String, ControlWord {
        case create
        case read
        case delete
        case list
        case broadcast
        case device

        /// Whether Apple's management hosts serve this operation. Management hosts refuse capitals in a bundle ID
        /// (docs/internals/apns.md section 7).
        var isManagement: Bool { self != .broadcast && self != .device }
    }

    let operation: Operation
    /// The bundle ID or device token, as it is in the path.
    let subject: String

    /// - Throws: `BadPath` for a path that APNs does not serve (including a query, and a bundle ID that is empty or has
    ///   characters other than `A-Z a-z 0-9 . -`); `MethodNotAllowed` for a known path with another method. Both are
    ///   checked before the provider token, as observed live on the send host (docs/internals/apns.md 2.5).
    init(method: String, path: String) throws(Refusal) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let operations: [String: Operation]
        switch parts.count {
        case 3...4 where Self.isDevicePath(path):
            subject = parts.count == 4 ? parts[3] : ""
            operations = ["POST": .device]
        case 5 where path.hasPrefix("/4/broadcasts/apps/"):
            subject = parts[4]
            operations = ["POST": .broadcast]
        case 5 where path.hasPrefix("/1/apps/") && parts[4] == "channels":
            subject = parts[3]
            operations = ["POST": .create, "GET": .read, "DELETE": .delete]
        case 5 where path.hasPrefix("/1/apps/") && parts[4] == "all-channels":
            subject = parts[3]
            operations = ["GET": .list]
        default: throw Refusal(.badPath)
        }
        guard parts.count < 5 || !subject.isEmpty && subject.utf8.allSatisfy(Self.isBundleIDByte) else {
            throw Refusal(.badPath)
        }
        guard let allowed = operations[method] else { throw Refusal(.methodNotAllowed) }
        operation = allowed
    }

    /// Whether `path` is a path of device pushes, with or without a token.
    static func isDevicePath(_ path: String) -> Bool { path == "/3/device" || path.hasPrefix("/3/device/") }

    /// The bundle ID in lower case. The App Store has no two bundle IDs that differ only in case, so a management call
    /// in lower case and a broadcast in the registered case mean the same app.
    var appName: String { subject.lowercased() }

    var hasCapitals: Bool { subject.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }

    /// Whether the bundle ID has the suffix of a topic, as in `com.example.app.push-type.liveactivity`.
    var hasTopicSuffix: Bool {
        appName.split(separator: ".", omittingEmptySubsequences: false).dropFirst().contains {
            $0.hasPrefix("push-type")
        }
    }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        // A bit makes the difference between small and capital letters.
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == 0x2D || byte == 0x2E
    }
}
