package import APNsWire
internal import JSON

/// A request as received. It is a value, so that the answer can be computed without sockets.
package struct SimulatorRequest: Sendable, Hashable {
    /// One header field.
    package struct Header: Sendable, Hashable, Encodable {
        /// In lower case.
        package var name: String
        /// As received.
        package var value: String

        /// - Parameter name: in lower case.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The environment of the port.
    package var environment: APNsEnvironment
    /// The service of the host name that the client used.
    package var service = HostService.all
    /// The number of the HTTP/2 connection; unique within the process.
    package var connectionID = 0
    /// In upper case, as received.
    package var method: String
    /// Path and query as received.
    package var path: String
    /// All regular headers in the order received, including duplicates.
    package var headers: [Header] = []
    /// The body; only its beginning if `bodyIsCut`.
    package var body: [UInt8] = []
    /// Whether the body was longer than the simulator keeps.
    package var bodyIsCut = false

    /// The value of the first header with this name in lower case.
    package subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// The simulator's answer to a request.
struct SimulatorAnswer: Sendable, Hashable {
    /// The HTTP status.
    var status: Int
    /// Names are in lower case. `apns-request-id`, or `apns-id` on a device's path, is always included.
    var headers: [SimulatorRequest.Header] = []
    /// Empty, or JSON.
    var body: [UInt8] = []
    /// Why the request was refused; `nil` when it was accepted.
    var reason: APNsReason?
    /// Whether the request had a valid token. After such a request the connection may have many streams
    /// (docs/internals/apns.md section 6).
    var tokenAccepted = false
    /// The route; `nil` if APNs has no such path or method.
    var operation: Route.Operation?
    /// The new value of SETTINGS_MAX_CONCURRENT_STREAMS of the connection; `nil`: it stays.
    var newStreamLimit: Int?
    /// Whether the connection ends with GOAWAY and `reason`, after all requests that have arrived were answered.
    var endsConnection = false

    /// An answer with JSON.
    static func json(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.init(APNsHeader.contentType, "application/json")], body: Array(text.utf8))
    }

    /// A refusal in APNs' form: `{"reason":"…"}` with the reason's documented status.
    ///
    /// - Parameters:
    ///   - spelling: the reason's text on the wire.
    ///   - status: another status than the documented one. A reason that `APNsReason.allKnown` does not have gets 400
    ///     by default.
    static func refusal(_ refusal: Refusal, spelled spelling: String, status: Int? = nil) -> Self {
        let time = refusal.goneAtMillis.map { ",\"timestamp\":\($0)" } ?? ""
        var answer = json(
            "{\"reason\":\(spelling.quotedJSON)\(time)}", status: status ?? refusal.reason.status ?? 400)
        answer.reason = refusal.reason
        if let seconds = refusal.retryAfter { answer.headers.append(.init(APNsHeader.retryAfter, String(seconds))) }
        return answer
    }

    /// The value of the first header with this name. `name` must be in lower case.
    subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// The failure of a check. `SimulatorState.handle` turns it into an answer.
struct Refusal: Error, Hashable {
    var reason: APNsReason
    /// Milliseconds since 1970: the time since which a device token is invalid (only with 410; docs/internals/apns.md
    /// 3.3).
    var goneAtMillis: Int?
    /// Seconds, for `Retry-After`.
    var retryAfter: Int?

    init(_ reason: APNsReason, timestamp: Int? = nil, retryAfter: Int? = nil) {
        self.reason = reason
        self.goneAtMillis = timestamp
        self.retryAfter = retryAfter
    }
}

/// The services of Apple's host names. Under its own names, the simulator serves everything. Under one of Apple's
/// names, the simulator serves only the service of that name.
package enum HostService: String, Sendable, Hashable, Encodable {
    /// All services. The client used none of Apple's host names.
    case all
    /// `api-manage-broadcast…`: channels.
    case management
    /// `api…` and `api-broadcast…`: broadcasts and device pushes (docs/internals/apns.md C1).
    case send

    /// Reads the name a client asked for (SNI).
    ///
    /// - Returns: `nil` if the name is not Apple's.
    static func named(_ serverName: String) -> (service: HostService, environment: APNsEnvironment)? {
        switch serverName.lowercased() {
        case "api.sandbox.push.apple.com", "api-broadcast.sandbox.push.apple.com": (.send, .development)
        case "api.push.apple.com", "api-broadcast.push.apple.com": (.send, .production)
        case "api-manage-broadcast.sandbox.push.apple.com": (.management, .development)
        case "api-manage-broadcast.push.apple.com": (.management, .production)
        default: nil
        }
    }

    func serves(_ operation: Route.Operation) -> Bool {
        self == .all || operation.isManagement == (self == .management)
    }
}

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
    let identifier: String

    /// - Throws: `BadPath` for a path that APNs does not serve (including a query, and a bundle ID that is empty or has
    ///   characters other than `A-Z a-z 0-9 . -`); `MethodNotAllowed` for a known path with another method. Both are
    ///   checked before the provider token, as observed live on the send host (docs/internals/apns.md 2.5).
    init(method: String, path: String) throws(Refusal) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let operations: [String: Operation]
        switch parts.count {
        case 3...4 where Self.isDevicePath(path):
            identifier = parts.count == 4 ? parts[3] : ""
            operations = ["POST": .device]
        case 5 where path.hasPrefix("/4/broadcasts/apps/"):
            identifier = parts[4]
            operations = ["POST": .broadcast]
        case 5 where path.hasPrefix("/1/apps/") && parts[4] == "channels":
            identifier = parts[3]
            operations = ["POST": .create, "GET": .read, "DELETE": .delete]
        case 5 where path.hasPrefix("/1/apps/") && parts[4] == "all-channels":
            identifier = parts[3]
            operations = ["GET": .list]
        default: throw Refusal(.badPath)
        }
        guard parts.count < 5 || !identifier.isEmpty && identifier.utf8.allSatisfy(Self.isBundleIDByte) else {
            throw Refusal(.badPath)
        }
        guard let allowed = operations[method] else { throw Refusal(.methodNotAllowed) }
        operation = allowed
    }

    /// Whether `path` is a path of device pushes, with or without a token.
    static func isDevicePath(_ path: String) -> Bool { path == "/3/device" || path.hasPrefix("/3/device/") }

    /// The bundle ID in lower case. The App Store has no two bundle IDs that differ only in case, so a management call
    /// in lower case and a broadcast in the registered case mean the same app.
    var bundle: String { identifier.lowercased() }

    var hasCapitals: Bool { identifier.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } }

    /// Whether the bundle ID has the suffix of a topic, as in `com.example.app.push-type.liveactivity`.
    var hasTopicSuffix: Bool {
        bundle.split(separator: ".", omittingEmptySubsequences: false).dropFirst().contains {
            $0.hasPrefix("push-type")
        }
    }

    private static func isBundleIDByte(_ byte: UInt8) -> Bool {
        // A bit makes the difference between small and capital letters.
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        return isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == 0x2D || byte == 0x2E
    }
}
