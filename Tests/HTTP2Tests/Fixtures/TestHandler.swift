@testable import HTTP2

/// A server's behaviour, given by the test. What the closures do not deal with can be awaited on the streams.
final class TestHandler: HTTP2ServerHandler {
    typealias Exchange = (request: HTTP2ServerRequest, stream: HTTP2ServerStream)

    private let onOpen: @Sendable (HTTP2ServerConnection) -> Void
    private let onRequest: @Sendable (HTTP2ServerRequest, HTTP2ServerStream) -> Bool
    private let held: AsyncStream<Exchange>.Continuation
    private let gone: AsyncStream<Int>.Continuation
    /// Requests the closure left alone, in the order they came.
    let requests: AsyncStream<Exchange>
    /// Ids of connections that closed.
    let closures: AsyncStream<Int>

    /// - Parameter answering: true when it dealt with the request; false leaves it to the test that awaits `requests`.
    init(
        opened: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in },
        answering: @escaping @Sendable (HTTP2ServerRequest, HTTP2ServerStream) -> Bool = { _, _ in false }
    ) {
        onOpen = opened
        onRequest = answering
        (requests, held) = AsyncStream.makeStream()
        (closures, gone) = AsyncStream.makeStream()
    }

    func opened(_ connection: HTTP2ServerConnection) { onOpen(connection) }

    func received(_ request: HTTP2ServerRequest, on stream: HTTP2ServerStream) {
        if !onRequest(request, stream) { held.yield((request, stream)) }
    }

    func closed(_ connection: HTTP2ServerConnection) { gone.yield(connection.id) }

    /// Answers every request at once: 200, and the body it came with.
    static var echo: TestHandler {
        TestHandler(answering: { request, stream in
            stream.respond(status: 200, headers: [HTTP2Header("x-path", request.path)], body: request.body)
            return true
        })
    }

    struct OutOfTime: Error {}

    /// The next `count` requests nobody dealt with; throws when the test's time is up before.
    func take(_ count: Int) async throws -> [Exchange] {
        var taken: [Exchange] = []
        for await exchange in requests {
            taken.append(exchange)
            if taken.count == count { return taken }
        }
        throw OutOfTime()
    }
}
