internal import CNghttp2
internal import Logging
internal import NIOCore

/// The server's side of a connection. It passes complete requests to the `HTTP2ServerHandler`, and sends its answers.
final class ServerHandler: Session {
    /// A request and its answer, from the first header to the closed stream.
    private final class Exchange {
        var request = HTTP2Request(method: "", path: "", authority: "", headers: [], body: [])
        /// The size of the request's fields by RFC 9113 6.5.2, including trailers.
        var headerListSize = 0
        /// The bytes of the request's body, including dropped ones.
        var bodySize = 0
        /// The number of header blocks so far; the second one is the trailers.
        var blockCount = 0
        var isReceived = false
        /// Whether the request was answered or reset, so that this side does nothing more.
        var isSettled = false
        /// The answer's body that is not in a DATA frame yet.
        var unsentBody: ArraySlice<UInt8> = []
    }

    private let configuration: HTTP2ServerConfiguration
    /// This reference is removed when the connection ends. An `HTTP2ServerHandler` that stores streams retains this
    /// object, so without the removal neither object would ever be freed.
    private var handler: (any HTTP2ServerHandler)?
    private let logger: Logger
    /// Set once when the channel is built, and removed when the connection ends, because this object and the connection
    /// retain each other.
    var connection: HTTP2ServerConnection?
    private var exchanges: [Int32: Exchange] = [:]
    /// The last stream that our GOAWAYs promise to serve. It is valid as soon as a GOAWAY is submitted; nghttp2 itself
    /// refuses later streams only after it has sent the GOAWAY. The client repeats the requests of higher streams, so
    /// they must not be processed.
    private var lastToServe = Int32.max
    private let handshakeDeadline: NIODeadline
    private var drainDeadline = NIODeadline.distantFuture
    /// When the peer last sent something, or was last found to wait for an answer.
    private var lastActive: NIODeadline
    /// The scheduled end of a pause in reading.
    private var pauseEnd: Scheduled<Void>?

    init(
        _ configuration: HTTP2ServerConfiguration, handler: any HTTP2ServerHandler, on loop: any EventLoop,
        logger: Logger
    ) throws {
        self.configuration = configuration
        self.handler = handler
        self.logger = logger
        lastActive = loop.now
        handshakeDeadline = loop.now + TimeAmount(configuration.handshakeTimeout)
        try super.init(.server, on: loop)
    }

    // MARK: Orders

    func perform(_ order: (ServerHandler) -> Void) {
        guard !isEnded else { return }
        order(self)
        writeSoon()
    }

    func respond(_ stream: Int32, status: Int, headers: [HTTP2Header], body: [UInt8]) {
        guard let exchange = exchanges[stream], !exchange.isSettled else { return }
        exchange.isSettled = true
        // Answers to HEAD, 204 and 304 have no content (RFC 9110 6.4.1).
        let hasBody = !body.isEmpty && exchange.request.method != "HEAD" && status != 204 && status != 304
        if hasBody { exchange.unsentBody = body[...] }
        do {
            _ = try submit(pseudo: [HTTP2Header(":status", String(status))], headers, hasBody: hasBody) {
                fields, count, body in nghttp2_submit_response(pointer, stream, fields, count, body)
            }
        } catch {
            logger.error("an answer can't be sent", metadata: ["reason": "\(error.reason)"])
            reset(stream, code: HTTP2ErrorCode.internalError.rawValue)
        }
    }

    /// Resets a stream that has no answer yet.
    func resetUnanswered(_ stream: Int32, code: UInt32) {
        guard let exchange = exchanges[stream], !exchange.isSettled else { return }
        exchange.isSettled = true
        reset(stream, code: code)
    }

    func setMaximumConcurrentStreams(_ limit: Int) {
        submitSettings([NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS: limit])
    }

    func goAway(code: UInt32 = HTTP2ErrorCode.noError.rawValue, debugData: [UInt8] = [], lastStream: Int? = nil) {
        let processed = nghttp2_session_get_last_proc_stream_id(pointer)
        let last = max(0, min(lastStream.map { Int32(clamping: $0) } ?? .max, processed))
        lastToServe = min(lastToServe, last)
        submitGoAway(code: code, debugData: debugData, lastStream: last)
    }

    func drain() {
        guard drainDeadline == .distantFuture, let context else { return }
        drainDeadline = context.eventLoop.now + TimeAmount(configuration.drainTimeout)
        // Before the end of the TLS handshake no peer can read a GOAWAY.
        if stage == .handshaking { end("the server stops") } else { goAway() }
    }

    func pauseReading(for amount: TimeAmount) {
        guard let channel = context?.channel else { return }
        pauseEnd?.cancel()
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        pauseEnd = channel.eventLoop.scheduleTask(in: amount) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    /// Closes the socket without TLS's close_notify, as if the process was killed.
    func cut() {
        let tls = try? context?.pipeline.syncOperations.context(handlerType: TLSHandler.self)
        tls?.close(promise: nil)
        end("cut by this side")
    }

    // MARK: Life

    override func tlsNegotiated() {
        submitSettings([
            NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS: configuration.initialMaximumConcurrentStreams,
            NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE: configuration.maximumHeaderList,
        ])
        if let connection { handler?.opened(connection) }
    }

    override func ended(_ reason: String, cause: (any Error)?) {
        exchanges = [:]
        pauseEnd?.cancel()
        if let connection {
            logger.debug(
                "HTTP/2 connection closed", metadata: ["peer": "\(connection.remoteAddress)", "reason": "\(reason)"])
            if stage != .handshaking { handler?.closed(connection) }
        }
        connection = nil
        handler = nil
    }

    override func didRead(now: NIODeadline) { lastActive = now }

    override var nextSweep: NIODeadline {
        min(drainDeadline, stage == .open ? lastActive + TimeAmount(configuration.idleTimeout) : handshakeDeadline)
    }

    override func sweep(now: NIODeadline) {
        if now >= drainDeadline { return end("the server stops") }
        guard stage == .open else {
            if now >= handshakeDeadline { end("no HTTP/2 within \(configuration.handshakeTimeout)") }
            return
        }
        guard now >= lastActive + TimeAmount(configuration.idleTimeout) else { return }
        // A client that waits for an answer is not idle.
        if exchanges.values.contains(where: { $0.isReceived && !$0.isSettled }) { return lastActive = now }
        goAway()
        writeNow()
        end("idle for \(configuration.idleTimeout)")
    }

    // MARK: Events

    override func streamOpened(_ stream: Int32) -> Bool {
        guard stream <= lastToServe else { return false }
        exchanges[stream] = Exchange()
        return true
    }

    override func headersBegan(_ stream: Int32) { exchanges[stream]?.blockCount += 1 }

    override func header(
        _ stream: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let exchange = exchanges[stream] else { return true }
        exchange.headerListSize += name.count + value.count + 32
        guard exchange.headerListSize <= configuration.maximumHeaderList else { return false }
        guard exchange.blockCount == 1 else { return true }
        let name = String(decoding: name, as: UTF8.self)
        let value = String(decoding: value, as: UTF8.self)
        switch name {
        case ":method": exchange.request.method = value
        case ":path": exchange.request.path = value
        case ":authority": exchange.request.authority = value
        case _ where name.hasPrefix(":"): break
        default:
            // `host` replaces a missing `:authority` (RFC 9113 8.3.1).
            if name == "host", exchange.request.authority.isEmpty { exchange.request.authority = value }
            exchange.request.headers.append(HTTP2Header(name, value))
        }
        return true
    }

    override func data(_ stream: Int32, bytes: UnsafeBufferPointer<UInt8>) {
        guard let exchange = exchanges[stream], !exchange.isSettled else { return }
        exchange.bodySize += bytes.count
        guard exchange.bodySize <= configuration.maximumBodyRead else {
            return resetUnanswered(stream, code: HTTP2ErrorCode.enhanceYourCalm.rawValue)
        }
        let room = configuration.maximumBodyKept - exchange.request.body.count
        exchange.request.body.append(contentsOf: bytes.prefix(room))
    }

    override func peerFinished(_ stream: Int32) {
        guard let connection, let exchange = exchanges[stream], !exchange.isReceived, !exchange.isSettled,
            stream <= lastToServe
        else { return }
        exchange.isReceived = true
        let request = exchange.request
        handler?.received(
            request, bodyIsCut: exchange.bodySize > request.body.count,
            on: HTTP2ServerStream(connection: connection, stream: stream))
    }

    override func bodyToSend(
        _ stream: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> (count: Int, isLast: Bool) {
        guard let exchange = exchanges[stream] else { return (0, true) }
        let next = exchange.unsentBody.prefix(buffer.count)
        buffer.copyBytes(from: next)
        exchange.unsentBody = exchange.unsentBody.dropFirst(next.count)
        return (next.count, exchange.unsentBody.isEmpty)
    }

    override func streamClosed(_ stream: Int32, code: UInt32) { exchanges[stream] = nil }
}
