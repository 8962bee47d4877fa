public import Foundation
public import GrandstandContract
internal import JSON

extension GrandstandClient {
    /// A call of the API as a value: `client.send(.getEvent("derby"))`. openapi.yaml has them all, by these names.
    public struct Call<Value: Sendable>: Sendable {
        /// The operation of openapi.yaml that it is a call of.
        public let operation: Contract.Operation
        /// The path, percent-encoded.
        public let path: String
        /// Parameters after the path.
        public private(set) var query: [URLQueryItem]
        /// Not printed, as an installation's secret is among them.
        private(set) var headers: [String: Secret]
        let body: Data?
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

        /// The same call by an installation, whose secret goes with it.
        func by(_ identity: GrandstandClient.InstallationIdentity) -> Self {
            with("Grandstand-Installation-Secret", identity.secret)
        }

        /// The same call, of which an answer with this status is an answer, too.
        func answering(_ status: Int) -> Self {
            var call = self
            call.answers = [status]
            return call
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
            item.value.map { URLQueryItem(name: item.name, value: ($0 as? Date).map(RFC3339.text) ?? $0.description) }
        }
    }

    /// A call whose answer is JSON.
    init(
        _ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = [],
        body: (any JSONWritable & Sendable)? = nil
    ) where Value: JSONReadable {
        self.init(operation, path, query, body: body) { try Value(json: JSONValue(decoding: $0.body)) }
    }

    /// A call whose answer says nothing but its status.
    init(_ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = []) where Value == Void {
        self.init(operation, path, query) { _ in }
    }

    init(
        _ operation: Contract.Operation, _ path: EncodedPath, _ query: Query = [],
        body: (any JSONWritable & Sendable)? = nil,
        read: @escaping @Sendable (GrandstandClient.Answer) throws -> Value
    ) {
        self.operation = operation
        self.path = path.text
        self.query = Self.items(query)
        // A repetition of this very call, after a network fault, is answered as the first was.
        headers = operation.keepsAnswers ? ["Idempotency-Key": Secret(UUID().uuidString)] : [:]
        if operation.method == "PATCH" { headers["Content-Type"] = Secret("application/merge-patch+json") }
        if operation.id == Contract.Operation.streamEvent.id { headers["Accept"] = Secret("text/event-stream") }
        self.body = body.map { body in
            var json = JSONWriter()
            body.write(to: &json)
            return Data(json.bytes)
        }
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
