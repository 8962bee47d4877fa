internal import APNsWire

/// What a method and a path ask for (apns-contract 1.2 and 2.1). Every route is served in both environments.
struct Route: Hashable {
    enum Operation: Hashable, CaseIterable {
        case create
        case read
        case delete
        case list
        case broadcast

        /// Served by Apple's management hosts, where capitals in a bundle ID are refused (section 7).
        var isManagement: Bool { self != .broadcast }
    }

    var operation: Operation
    /// As it stands in the path.
    var bundleID: String

    /// - Throws: `BadPath` for a path APNs does not serve (a query, an empty bundle ID or one outside `A-Z a-z 0-9 . -`
    ///   included); `MethodNotAllowed` for a known path with another method. Both come before the token is looked
    ///   at, as observed live on the send host (apns-contract 2.5).
    init(method: String, path: String) throws(Refusal) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
        let operations: [String: Operation]
        switch parts.count {
        case 5 where parts[0] == "" && parts[1] == "1" && parts[2] == "apps" && parts[4] == "channels":
            operations = ["POST": .create, "GET": .read, "DELETE": .delete]
            bundleID = String(parts[3])
        case 5 where parts[0] == "" && parts[1] == "1" && parts[2] == "apps" && parts[4] == "all-channels":
            operations = ["GET": .list]
            bundleID = String(parts[3])
        case 5 where parts[0] == "" && parts[1] == "4" && parts[2] == "broadcasts" && parts[3] == "apps":
            operations = ["POST": .broadcast]
            bundleID = String(parts[4])
        default:
            throw Refusal(.badPath)
        }
        guard !bundleID.isEmpty, bundleID.utf8.allSatisfy(Self.isBundleIDByte) else { throw Refusal(.badPath) }
        guard let operation = operations[method] else { throw Refusal(.methodNotAllowed) }
        self.operation = operation
    }

    /// Apps are told apart without regard to case: the App Store has no two bundle IDs that differ only in it, and a
    /// management call in lowercase means the app whose broadcasts carry the registered case.
    var appName: String { bundleID.lowercased() }

    var hasCapitals: Bool { bundleID.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
