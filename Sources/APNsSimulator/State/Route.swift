internal import APNsWire

/// The operation that a request asks for by its method and path (docs/internals/apns.md 1.2, 2.1 and 3.1). Every route
/// is served in both environments.
package struct Route: Hashable, Sendable {
    /// The names are those of the control API, too.
    package enum Operation: String, Hashable, Sendable, CaseIterable {
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

    var operation: Operation
    /// The bundle ID or device token, as it is in the path.
    private var subject: Substring

    /// - Throws: `BadPath` for a path that APNs does not serve (including a query, and a bundle ID that is empty or has
    ///   characters other than `A-Z a-z 0-9 . -`); `MethodNotAllowed` for a known path with another method. Both are
    ///   checked before the provider token, as observed live on the send host (docs/internals/apns.md 2.5).
    init(method: String, path: String) throws(Refusal) {
        let allowed: Operation?
        if let app = path.part(between: "/4/broadcasts/apps/", and: "") {
            subject = app
            allowed = method == "POST" ? .broadcast : nil
        } else if let app = path.part(between: "/1/apps/", and: "/channels") {
            subject = app
            allowed =
                switch method {
                case "POST": .create
                case "GET": .read
                case "DELETE": .delete
                default: nil
                }
        } else if let app = path.part(between: "/1/apps/", and: "/all-channels") {
            subject = app
            allowed = method == "GET" ? .list : nil
        } else if Self.isDevicePath(path) {
            subject = path.dropFirst("/3/device/".count)
            guard !subject.utf8.contains(UInt8(ascii: "/")) else { throw Refusal(.badPath) }
            guard method == "POST" else { throw Refusal(.methodNotAllowed) }
            operation = .device
            return
        } else {
            throw Refusal(.badPath)
        }
        guard !subject.isEmpty, subject.utf8.allSatisfy(Self.isBundleIDByte) else { throw Refusal(.badPath) }
        guard let allowed else { throw Refusal(.methodNotAllowed) }
        operation = allowed
    }

    /// Whether `path` is a path of device pushes, with or without a token.
    static func isDevicePath(_ path: String) -> Bool { path == "/3/device" || path.hasPrefix("/3/device/") }

    /// The bundle ID as it is in the path; empty for a device push.
    var bundleID: String { operation == .device ? "" : String(subject) }

    /// The device token as it is in the path; empty for other operations.
    var deviceToken: String { operation == .device ? String(subject) : "" }

    /// The bundle ID in lower case. The App Store has no two bundle IDs that differ only in case, so a management call
    /// in lower case and a broadcast in the registered case mean the same app.
    var appName: String { hasCapitals ? bundleID.lowercased() : bundleID }

    var hasCapitals: Bool { subject.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }

    /// Whether the bundle ID has the suffix of a topic, as in `com.example.app.push-type.liveactivity`.
    var hasTopicSuffix: Bool {
        var rest = subject.utf8
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[dot...].dropFirst()
            if rest.starts(with: Self.topicMark, by: { $0 | 0x20 == $1 }) { return true }
        }
        return false
    }

    private static let topicMark = Array("push-type".utf8)

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension String {
    /// The text between a prefix and a suffix; `nil` if this string does not have both. Bytes are compared, not
    /// characters.
    fileprivate func part(between prefix: StaticString, and suffix: StaticString) -> Substring? {
        let text = utf8
        let outer = prefix.utf8CodeUnitCount + suffix.utf8CodeUnitCount
        guard text.count >= outer, prefix.withUTF8Buffer({ text.starts(with: $0) }),
            suffix.withUTF8Buffer({ text.suffix($0.count).elementsEqual($0) })
        else { return nil }
        let start = text.index(text.startIndex, offsetBy: prefix.utf8CodeUnitCount)
        return self[start..<text.index(text.endIndex, offsetBy: -suffix.utf8CodeUnitCount)]
    }
}
