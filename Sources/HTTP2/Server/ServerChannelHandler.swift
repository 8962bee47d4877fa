internal import CNghttp2
internal import Logging
internal import NIOCore
internal import NIOTLS

enum ServerCommand: Sendable {
    case respond(slot: Int, stream: Int32, status: Int, headers: [HTTP2Header], body: [UInt8])
    case reset(slot: Int, stream: Int32, code: UInt32)
    case setMaximumConcurrentStreams(Int)
    case goAway(code: UInt32, debugData: [UInt8], lastStream: Int?)
    case pauseReading(Duration)
    case drain
    case cut
}

/// A server connection's handler in its pipeline. It passes bytes, times and commands to `ServerStreams`, and complete
/// requests to the `HTTP2ServerHandler`.
final class ServerChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let inbox = CommandInbox<ServerCommand>()
    let closed = ClosedSignal()

    private let configuration: HTTP2ServerConfiguration
    /// This reference is removed when the connection ends. An `HTTP2ServerHandler` that stores streams retains this
    /// object, so without the removal neither object would ever be freed.
    private var handler: (any HTTP2ServerHandler)?
    private let logger: Logger
    private let streams: ServerStreams
    private let driver = SessionDriver()
    private var context: ChannelHandlerContext?
    /// Set once when the channel is built, and removed when the connection ends, because this object and the connection
    /// retain each other.
    var connection: HTTP2ServerConnection?
    private var isEnded = false
    private var isOpened = false
    /// Whether a batch is in progress. Each batch ends with a flush.
    private var isInBatch = false
    private var isSettleScheduled = false
    private let handshakeDeadline: NIODeadline
    private var drainDeadline: NIODeadline?
    private var idle: IdleWatch
    /// The scheduled end of a pause in reading.
    private var resumption: Scheduled<Void>?
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?

    init(_ configuration: HTTP2ServerConfiguration, handler: any HTTP2ServerHandler, logger: Logger) {
        self.configuration = configuration
        self.handler = handler
        self.logger = logger
        streams = ServerStreams(configuration)
        handshakeDeadline = .now() + TimeAmount(configuration.handshakeTimeout)
        idle = IdleWatch(timeout: TimeAmount(configuration.idleTimeout), now: .now())
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        end("the connection was closed")
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated) = event as? TLSUserEvent { secured(negotiated: negotiated) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try driver.receive(unwrapInboundIn(data))
        } catch {
            end("the peer broke the protocol: \(error)")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        idle.read(now: .now())
        batch {
            takeOrders()
            for (slot, exchange) in streams.takeArrived() where streams.serves(exchange.stream) {
                deliver(exchange, slot: slot)
            }
        }
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { settle() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(ConnectProgress.lossText(error)) }

    func channelInactive(context: ChannelHandlerContext) {
        end("the peer closed the connection")
        context.fireChannelInactive()
    }

    // MARK: Orders

    /// Called on the loop after the first command of a batch was added to the inbox.
    func wake() { batch { takeOrders() } }

    /// Performs a command from the loop itself at once. Its bytes are written with the rest of the batch.
    func perform(_ command: ServerCommand) {
        apply(command)
        guard !isInBatch, !isSettleScheduled, let context else { return }
        isSettleScheduled = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.settle() }
    }

    private func takeOrders() {
        let commands = inbox.takeAll()
        guard !commands.isEmpty else { return }
        for command in commands { apply(command) }
        inbox.recycle(commands)
    }

    private func apply(_ command: ServerCommand) {
        switch command {
        case .respond(let slot, let stream, let status, let headers, let body):
            let invalid = streams.respond(slot: slot, stream: stream, status: status, headers: headers, body: body)
            if let invalid {
                logger.error("an answer's header field has a byte that HTTP forbids", metadata: ["field": "\(invalid)"])
            }
        case .reset(let slot, let stream, let code): streams.reset(slot: slot, stream: stream, code: code)
        case .setMaximumConcurrentStreams(let limit): driver.session?.setMaximumConcurrentStreams(limit)
        case .goAway(let code, let debugData, let last):
            driver.session?.leave(code: code, debugData: debugData, lastStream: last)
        case .pauseReading(let duration): pauseReading(for: TimeAmount(duration))
        case .drain: drain()
        case .cut: cut()
        }
    }

    private func drain() {
        guard drainDeadline == nil else { return }
        drainDeadline = .now() + TimeAmount(configuration.drainTimeout)
        // Before the end of the TLS handshake no peer can read a GOAWAY.
        guard let session = driver.session else { return end("the server stops") }
        session.leave(code: HTTP2ErrorCode.noError.rawValue, debugData: [])
    }

    private func pauseReading(for amount: TimeAmount) {
        guard let context, !isEnded else { return }
        resumption?.cancel()
        context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        let channel = context.channel
        resumption = context.eventLoop.scheduleTask(in: amount) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    /// Closes the socket without TLS's close_notify, as if the process was killed.
    private func cut() {
        let tls = try? context?.pipeline.syncOperations.context(handlerType: TLSHandler.self)
        tls?.close(promise: nil)
        end("cut by this side")
    }

    // MARK: Life

    private func secured(negotiated: String?) {
        guard negotiated == "h2" else { return end("the peer does not speak HTTP/2") }
        guard let connection, let session = Session(.server, events: streams) else {
            return end("no memory for a session")
        }
        driver.start(session)
        streams.start(session)
        do {
            try session.open(
                [
                    nghttp2_settings_entry(
                        NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                        UInt32(clamping: configuration.initialMaximumConcurrentStreams)),
                    nghttp2_settings_entry(
                        NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: configuration.maximumHeaderList)),
                ], connectionWindow: Int32(clamping: configuration.connectionWindow))
        } catch {
            return end("\(error)")
        }
        isOpened = true
        batch { handler?.opened(connection) }
    }

    private func deliver(_ exchange: ServerExchange, slot: Int) {
        guard let connection, !exchange.isSettled else { return }
        let stream = HTTP2ServerStream(connection: connection, slot: slot, stream: exchange.stream)
        handler?.received(exchange.request, on: stream)
    }

    private func batch(_ body: () -> Void) {
        isInBatch = true
        body()
        isInBatch = false
        settle()
    }

    private func settle() {
        isSettleScheduled = false
        guard let context, !isEnded else { return }
        do {
            try driver.flush(context)
        } catch {
            return end("\(error)")
        }
        guard !isEnded else { return }
        if driver.session != nil, driver.isFinished { return end(streams.violation ?? "the last request was answered") }
        arm()
    }

    private func end(_ reason: String) {
        guard !isEnded else { return }
        isEnded = true
        driver.stop()
        streams.stop()
        timer?.task.cancel()
        timer = nil
        resumption?.cancel()
        resumption = nil
        context?.close(promise: nil)
        if let connection {
            logger.debug(
                "HTTP/2 connection closed",
                metadata: ["peer": "\(connection.remoteAddress)", "reason": "\(streams.violation ?? reason)"])
            if isOpened { handler?.closed(connection) }
        }
        connection = nil
        handler = nil
        closed.fire(reason)
    }

    // MARK: Time

    /// Keeps one timer for the next deadline. It may fire early, and is set again only for an earlier deadline.
    private func arm() {
        guard let context, !isEnded else { return }
        var nearest = streams.isOpen ? idle.next : handshakeDeadline
        if let drainDeadline { nearest = min(nearest, drainDeadline) }
        if let timer, timer.at <= nearest { return }
        timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = (nearest, context.eventLoop.scheduleTask(deadline: nearest) { bound.value.ring() })
    }

    private func ring() {
        timer = nil
        let now = NIODeadline.now()
        if !streams.isOpen, now >= handshakeDeadline {
            return end("no HTTP/2 within \(configuration.handshakeTimeout)")
        }
        if let drainDeadline, now >= drainDeadline { return end("the server stops") }
        if streams.isOpen, idle.isOver(now: now, owed: streams.owed) {
            driver.session?.leave(code: HTTP2ErrorCode.noError.rawValue, debugData: [])
            settle()
            return end("idle for \(configuration.idleTimeout)")
        }
        arm()
    }
}
