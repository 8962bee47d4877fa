internal import HTTPTypes
internal import Hummingbird
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
