public import Foundation
public import GrandstandContract
internal import JSON

extension GrandstandClient {
    /// A call of the API as a value: `client.send(.getEvent("derby"))`. Each operation of openapi.yaml has a call with
    /// the same name.
    public struct Call<Value: Sendable>: Sendable {
        /// The operation in openapi.yaml.
        public let operation: Contract.Operation
        /// The path, percent-encoded.
        public let path: String
        /// The parameters of the query.
        public private(set) var query: [URLQueryItem]
        /// Header fields. They are not printed, because one may contain an installation's secret.
        private(set) var headers: [String: Secret]
        let body: Data?
        /// Statuses other than 2xx whose body is a normal answer.
        var answerStatuses: Set<Int> = []
        let read: @Sendable (Answer) throws -> Value

        /// The path with the query.
        var target: String {
            guard !query.isEmpty else { return path }
            return path + "?"
                + query.map { "\($0.name)=\(GrandstandClient.encoded($0.value ?? ""))" }.joined(separator: "&")
        }

        func accepts(_ answer: Answer) -> Bool {
            (200..<300).contains(answer.status) || answerStatuses.contains(answer.status)
        }

        /// The same call, made by an installation; adds the installation's secret.
        func by(_ identity: GrandstandClient.InstallationIdentity) -> Self {
            header("Grandstand-Installation-Secret", identity.secret)
        }

        /// The same call, where an answer with this status is a normal answer, too.
        func answering(_ status: Int) -> Self {
            var call = self
            call.answerStatuses = [status]
            return call
        }

        /// The same call with a header field.
        func header(_ name: String, _ value: String?) -> Self {
            var call = self
            call.headers[name] = value.map { Secret($0) }
            return call
        }

        /// The same list, beginning after a page's end (`Page.nextCursor`), with at most `limit` entries.
        public func page<Item>(limit: Int? = nil, after cursor: String? = nil) -> Self
        where Value == GrandstandClient.Page<Item> {
            var call = self
            let items = Self.items([("limit", limit), ("cursor", cursor)])
            call.query.removeAll { old in items.contains { $0.name == old.name } }
            call.query += items
            return call
        }

        /// The same POST with the caller's own idempotency key. For 24 hours, every repetition with this key gets the
        /// first answer. Without a key from the caller, each call gets a random key.
        public func idempotencyKey(_ key: String) -> Self { header("Idempotency-Key", key) }

        /// The same PUT or PATCH, which is refused (`version-mismatch`) unless the present version has this tag
        /// (`Reply.entityTag`).
        public func ifMatch(_ entityTag: String) -> Self { header("If-Match", entityTag) }

        /// The same PUT, which is refused (`version-mismatch`) if the resource already exists.
        public func ifNoneExists() -> Self { header("If-None-Match", "*") }
    }

    /// The answer to a call, with its value.
    @dynamicMemberLookup
    public struct Reply<Value: Sendable>: Sendable {
        /// The decoded value.
        public let value: Value
        /// The answer as received.
        public let answer: Answer

        /// The version of the value, for `ifMatch` of the call that changes it.
        public var entityTag: String? { answer.entityTag }
        /// Whether this is the stored answer of an earlier POST with the same idempotency key.
        public var isReplayed: Bool { answer.headers["idempotent-replayed"] == "true" }

        /// Members of the value.
        public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
    }
}

extension GrandstandClient.Call {
    /// The parameters of a query. A parameter that is `nil` is left out.
    typealias Query = [(name: String, value: (any CustomStringConvertible)?)]

    fileprivate static func items(_ query: Query) -> [URLQueryItem] {
        query.compactMap { item in
            item.value.map { URLQueryItem(name: item.name, value: ($0 as? Date).map(RFC3339.text) ?? $0.description) }
        }
    }

    /// A call whose answer is JSON.
    init(
        _ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = [],
        body: (any Encodable & Sendable)? = nil
    ) where Value: Decodable {
        self.init(operation, path, query, body: body) { try JSONValue(decoding: $0.body).decode() }
    }

    /// A call whose answer has no body.
    init(_ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = []) where Value == Void {
        self.init(operation, path, query) { _ in }
    }

    init(
        _ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = [],
        body: (any Encodable & Sendable)? = nil,
        read: @escaping @Sendable (GrandstandClient.Answer) throws -> Value
    ) {
        self.operation = operation
        self.path = path.text
        self.query = Self.items(query)
        // If a network fault makes the client repeat this call, the server gives the first answer again.
        headers = operation.keepsAnswers ? ["Idempotency-Key": Secret(UUID().uuidString)] : [:]
        if operation.method == "PATCH" { headers["Content-Type"] = Secret("application/merge-patch+json") }
        self.body = body.map { Data(JSONWriter.text($0)) }
        self.read = read
    }
}

extension GrandstandClient.Call where Value == GrandstandClient.Answer {
    /// A call of an operation that is chosen while the program runs. Its value is the answer as received.
    ///
    /// - Parameter parameters: by their names in openapi.yaml. Those that are neither in the path nor in the query are
    ///   header fields.
    package init(
        _ operation: Contract.Operation, _ parameters: [String: String], body: RawJSON? = nil
    ) {
        var (path, headers) = (operation.path, parameters)
        for (id, text) in parameters where path.contains("{\(id)}") {
            path = path.replacingOccurrences(of: "{\(id)}", with: GrandstandClient.encoded(text))
            headers[id] = nil
        }
        let query = operation.query.map { ($0, headers.removeValue(forKey: $0)) }
        self.init(operation, EncodedPath(stringLiteral: path), query, body: body) { $0 }
        for (name, value) in headers { self = header(name, value) }
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
