public import Foundation

extension GrandstandClient {
    /// A call of the API as a value: `client.send(.getEvent("derby"))`. openapi.yaml has them all, by these names.
    public struct Call<Value: Sendable>: Sendable {
        /// The operation's name in openapi.yaml.
        public let operationId: String
        /// The HTTP method.
        public let method: Method
        /// The path, percent-encoded.
        public let path: String
        /// Parameters after the path.
        public private(set) var query: [URLQueryItem]
        /// Not printed, as an installation's secret is among them.
        private(set) var headers: [String: Secret]
        let body: @Sendable () throws -> Data?
        /// Statuses beside 2xx whose body is an answer.
        var answers: Set<Int> = []
        let read: @Sendable (Answer) throws -> Value

        /// The path with the parameters after it.
        var target: String {
            guard !query.isEmpty else { return path }
            return path + "?"
                + query.map { "\($0.name)=\(GrandstandClient.encoded($0.value ?? ""))" }.joined(separator: "&")
        }

        func isAnswer(_ answer: Answer) -> Bool {
            (200..<300).contains(answer.status) || answers.contains(answer.status)
        }

        /// The same call with a header field.
        func with(_ name: String, _ value: String?) -> Self {
            var call = self
            call.headers[name] = value.map { Secret($0) }
            return call
        }

        /// The same list from where a page ended (`Page.nextCursor`), with so many entries at most.
        public func page<Item>(limit: Int? = nil, after cursor: String? = nil) -> Self
        where Value == GrandstandClient.Page<Item> {
            var call = self
            let items = Self.items([("limit", limit), ("cursor", cursor)])
            call.query.removeAll { old in items.contains { $0.name == old.name } }
            call.query += items
            return call
        }

        /// The same POST under a name of the caller's: whoever repeats it, later or elsewhere, gets the first answer for
        /// 24 hours. Without it each call has a name of its own.
        public func idempotencyKey(_ key: String) -> Self { with("Idempotency-Key", key) }

        /// The same PUT or PATCH, refused (`version-mismatch`) unless the version there has this tag (`Reply.entityTag`).
        public func ifMatch(_ entityTag: String) -> Self { with("If-Match", entityTag) }

        /// The same PUT, refused (`version-mismatch`) if there is one already.
        public func ifNoneExists() -> Self { with("If-None-Match", "*") }
    }

    /// Methods of the API.
    public enum Method: String, Sendable, Hashable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The answer to a call.
    @dynamicMemberLookup
    public struct Reply<Value: Sendable>: Sendable {
        /// What was asked for.
        public let value: Value
        /// The answer as it came.
        public let answer: Answer

        /// For `ifMatch` of the call that changes what was got.
        public var entityTag: String? { answer.entityTag }
        /// Whether this is the first answer again, to a POST that was made before.
        public var isReplayed: Bool { answer.headers["idempotent-replayed"] == "true" }

        /// Members of the value.
        public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
    }
}

extension GrandstandClient.Call {
    /// Parameters after the path; what is `nil` is not said.
    typealias Query = [(name: String, value: (any CustomStringConvertible)?)]

    fileprivate static func items(_ query: Query) -> [URLQueryItem] {
        query.compactMap { item in
            item.value.map { URLQueryItem(name: item.name, value: ($0 as? Date)?.rfc3339 ?? $0.description) }
        }
    }

    /// A call whose answer is JSON.
    init(
        _ operationId: String, _ method: GrandstandClient.Method, _ path: EncodedPath, _ query: Query = [],
        body: (any Encodable & Sendable)? = nil
    ) where Value: Decodable {
        self.init(operationId, method, path, query, bytes: { try body.map { try JSONText.body($0) } })
    }

    /// A call whose body is no JSON, and whose answer is.
    init(
        _ operationId: String, _ method: GrandstandClient.Method, _ path: EncodedPath, _ query: Query,
        bytes: @escaping @Sendable () throws -> Data?
    ) where Value: Decodable {
        self.init(operationId, method, path, query, bytes: bytes) { try JSONText.value(Value.self, in: $0.body) }
    }

    /// A call whose answer says nothing but its status.
    init(_ operationId: String, _ method: GrandstandClient.Method, _ path: EncodedPath, _ query: Query = [])
    where Value == Void {
        self.init(operationId, method, path, query) { _ in }
    }

    init(
        _ operationId: String, _ method: GrandstandClient.Method, _ path: EncodedPath, _ query: Query,
        bytes: @escaping @Sendable () throws -> Data? = { nil },
        read: @escaping @Sendable (GrandstandClient.Answer) throws -> Value
    ) {
        self.operationId = operationId
        self.method = method
        self.path = path.text
        self.query = Self.items(query)
        // A repetition of this very call, after a network fault, is answered as the first was.
        headers = method == .post ? ["Idempotency-Key": Secret(UUID().uuidString)] : [:]
        body = bytes
        self.read = read
    }
}

/// A path whose interpolated parts are percent-encoded.
struct EncodedPath: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ part: String) { text += GrandstandClient.encoded(part) }

        mutating func appendInterpolation(_ app: GrandstandClient.AppEnvironment) {
            text += "\(GrandstandClient.encoded(app.bundleId))/\(GrandstandClient.encoded(app.environment.rawValue))"
        }

        mutating func appendInterpolation(_ identity: GrandstandClient.InstallationIdentity) {
            appendInterpolation(identity.app)
            text += "/installations/\(GrandstandClient.encoded(identity.installationId))"
        }
    }

    let text: String

    init(stringLiteral text: String) { self.text = text }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

extension Date {
    /// With milliseconds. The style cuts off what is beyond them, and a `Date` is a binary fraction: half a microsecond more
    /// keeps .520 s what it was.
    var rfc3339: String {
        addingTimeInterval(0.000_000_5).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

/// The members of a small body. What is `nil` is not said.
struct Members: Encodable, Sendable {
    private let members: [(name: String, value: (any Encodable & Sendable)?)]

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(_ members: KeyValuePairs<String, (any Encodable & Sendable)?>) {
        self.members = members.map { (name: $0.key, value: $0.value) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for case (let name, let value?) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}
