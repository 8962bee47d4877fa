internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Logging
internal import NIOCore

/// The listener of the control API.
struct ControlServer: Sendable {
    /// The most bytes of a body; more get 413.
    private static let maximumBody = 4 << 20

    let port: Int
    private let running: Task<Void, Never>

    /// - Throws: if the server cannot listen. The error says what to do.
    init(
        host: String, port: Int, answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) async throws {
        let (ports, listening) = AsyncThrowingStream.makeStream(of: Int.self)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                await Self.response(to: request, answer)
            },
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { listening.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "control") { _ in SwiftLogNoOpLogHandler() })
        running = Task {
            do { try await application.run() } catch { listening.finish(throwing: error) }
        }
        var first = ports.makeAsyncIterator()
        do {
            self.port = try await first.next() ?? 0
        } catch {
            throw SimulatorError(
                "The control API cannot listen on \(host):\(port) (\(error)): choose another --control-port.")
        }
    }

    func stop() async {
        running.cancel()
        await running.value
    }

    private static func response(
        to request: Request, _ answer: @Sendable (ControlRequest) async -> ControlAnswer
    ) async -> Response {
        var reply: ControlAnswer
        do {
            var body: [UInt8] = []
            // The rest of a body that is too large is read, too, because a client may send all of it before it reads.
            for try await part in request.body where body.count <= maximumBody { body += part.readableBytesView }
            if body.count > maximumBody { throw SimulatorError("The body is larger than 4 MB.", status: 413) }
            reply = await answer(
                try ControlRequest(method: request.method.rawValue, target: request.head.path ?? "/", body: body))
        } catch {
            reply = ControlAnswer(error)
        }
        guard !reply.body.isEmpty else { return Response(status: .init(code: reply.status)) }
        return Response(
            status: .init(code: reply.status), headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: reply.body + [UInt8(ascii: "\n")])))
    }
}

/// A request to the control API.
struct ControlRequest: Sendable {
    let method: String
    /// The segments of the path, percent-decoded, without empty ones.
    let path: [String]
    /// The parameters of the query, percent-decoded. A `+` stays a plus sign, because channel IDs contain it.
    private let query: [(name: String, value: String)]
    let body: [UInt8]

    /// - Throws: if a part of the target is not percent-encoded UTF-8.
    init(method: String, target: String, body: [UInt8] = []) throws {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method
        self.body = body
        path = try parts[0].split(separator: "/").map(Self.unescape)
        query = try parts.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (try Self.unescape(sides[0]), try Self.unescape(sides.count == 2 ? sides[1] : ""))
        }
    }

    private static func unescape(_ text: Substring) throws -> String {
        guard let decoded = text.removingPercentEncoding else {
            throw SimulatorError("The path is not percent-encoded UTF-8.")
        }
        return decoded
    }

    /// The path with `*` in place of each name, as in `/devices/*/activities`.
    var pathPattern: String {
        let words = path.first == "apps" ? [0, 3] : [0, 2, 4]
        return "/" + path.indices.map { words.contains($0) ? path[$0] : "*" }.joined(separator: "/")
    }

    /// The body as JSON; an empty body counts as an empty object.
    func json() throws -> JSONValue {
        try JSONValue(body.isEmpty ? Array("{}".utf8) : body, at: "The body")
    }

    /// Reads the body.
    func parse<Body: Decodable>() throws -> Body { try json().read(at: "the body") }

    /// Reads the parameters of the query like the members of a body.
    ///
    /// - Parameter numbers: the names whose values are numbers.
    func parameters<Parameters: Decodable>(numbers: Set<String> = []) throws -> Parameters {
        let members = query.map { name, value in
            let isNumber = numbers.contains(name) && Double(value) != nil
            return "\(name.quotedJSON):\(isNumber ? value : value.quotedJSON)"
        }
        return try JSONValue(Array("{\(members.joined(separator: ","))}".utf8), at: "The query").read(at: "the query")
    }
}

/// An answer of the control API: a status and JSON.
struct ControlAnswer: Sendable {
    let status: Int
    /// JSON; empty: no body.
    let body: [UInt8]

    init(_ body: some Encodable, status: Int = 200) {
        self.status = status
        self.body = JSONWriter.text(body)
    }

    private init() {
        status = 204
        body = []
    }

    /// The answer without a body.
    static let noContent = Self()

    /// - Parameter failure: says what is wrong and what to do.
    init(_ failure: any Error) {
        self.init(["error": "\(failure)"], status: (failure as? SimulatorError)?.status ?? 400)
    }
}
