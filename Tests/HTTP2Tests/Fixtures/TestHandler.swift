@testable import HTTP2

/// A server with the test's behaviour. Requests that the closures do not handle can be awaited.
final class TestHandler: HTTP2ServerHandler {
    typealias Exchange = (request: HTTP2Request, bodyIsCut: Bool, stream: HTTP2ServerStream)

    private let onOpen: @Sendable (HTTP2ServerConnection) -> Void
    private let onRequest: @Sendable (HTTP2Request, HTTP2ServerStream) -> Bool
    private let held: AsyncStream<Exchange>.Continuation
    private let gone: AsyncStream<Int>.Continuation
    /// The requests that the closure `answering` did not handle, in order.
    let requests: AsyncStream<Exchange>
    /// The IDs of closed connections.
    let closures: AsyncStream<Int>

    /// - Parameter answering: returns whether it handled the request. The test can await the other requests with
    ///   `requests`.
    init(
        opened: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in },
        answering: @escaping @Sendable (HTTP2Request, HTTP2ServerStream) -> Bool = { _, _ in false }
    ) {
        onOpen = opened
        onRequest = answering
        (requests, held) = AsyncStream.makeStream()
        (closures, gone) = AsyncStream.makeStream()
    }

    func opened(_ connection: HTTP2ServerConnection) { onOpen(connection) }

    func received(_ request: HTTP2Request, bodyIsCut: Bool, on stream: HTTP2ServerStream) {
        if !onRequest(request, stream) { held.yield((request, bodyIsCut, stream)) }
    }

    func closed(_ connection: HTTP2ServerConnection) { gone.yield(connection.id) }

    /// A server with this answer to every request.
    static func answering(_ answer: @escaping @Sendable (HTTP2Request, HTTP2ServerStream) -> Void) -> TestHandler {
        TestHandler(answering: { request, stream in
            answer(request, stream)
            return true
        })
    }

    /// Answers every request at once with 200 and its own body.
    static var echo: TestHandler {
        TestHandler.answering { request, stream in
            stream.respond(status: 200, headers: [HTTP2Header("x-path", request.path)], body: request.body)
        }
    }

    struct OutOfTime: Error {}

    /// The next `count` unhandled requests. Throws when the test's time is over.
    func take(_ count: Int) async throws -> [Exchange] {
        var taken: [Exchange] = []
        for await exchange in requests {
            taken.append(exchange)
            if taken.count == count { return taken }
        }
        throw OutOfTime()
    }
}
