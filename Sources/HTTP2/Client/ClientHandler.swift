internal import CNghttp2
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOTLS

enum ClientCommand: Sendable {
    case start(ClientCall)
    case cancel(ClientCall)
    case proven
    case drain
    case close(String)
}

/// A client connection's handler in its pipeline. The handler passes bytes, times and commands to `ClientStreams`, and
/// acts on what `ClientStreams` returns. All decisions are made by types that do no I/O.
final class ClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The body bytes that the server may send without a WINDOW_UPDATE. A list of 10,000 channels (300 KB) fits.
    private static let streamWindow: UInt32 = 1 << 20
    private static let connectionWindow: Int32 = 8 << 20

    /// The maximum number of requests that are written together. With a limit, the peer can process the first requests
    /// while the last requests are still being prepared.
    private static let burst = 32

    let inbox = CommandInbox<ClientCommand>()
    var snapshot: NIOLockedValueBox<ClientSnapshot> { streams.snapshot }
    let closed = ClosedSignal()

    private let configuration: HTTP2ClientConfiguration
    private let logger: Logger
    private let streams: ClientStreams
    private let driver = SessionDriver()
    private var heartbeat: Heartbeat
    private let connectDeadline: NIODeadline
    private var drainDeadline: NIODeadline?
    private var ready: EventLoopPromise<Void>?
    private var context: ChannelHandlerContext?
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?
    /// The number of requests accepted since the last flush.
    private var accepted = 0
    private var isWakeScheduled = false
    private var connectState = ConnectProgress.handshaking

    init(
        _ configuration: HTTP2ClientConfiguration, connectDeadline: NIODeadline, ready: EventLoopPromise<Void>,
        logger: Logger
    ) {
        self.configuration = configuration
        self.connectDeadline = connectDeadline
        self.ready = ready
        self.logger = logger
        streams = ClientStreams(configuration)
        heartbeat = Heartbeat(
            idle: TimeAmount(configuration.pingInterval), overdue: TimeAmount(configuration.overdueInterval),
            timeout: TimeAmount(configuration.pingTimeout), now: .now())
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
        if case .handshakeCompleted(let negotiated) = event as? TLSUserEvent {
            secured(context, negotiated: negotiated)
        }
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
        let now = NIODeadline.now()
        heartbeat.read(now: now)
        streams.lastRead = now
        takeOrders()
        settle(now: now)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { settle(now: .now()) }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if ready != nil { fail(connectState.error(configuration, cause: error)) }
        end(ConnectProgress.lossText(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        end("the peer closed the connection")
        context.fireChannelInactive()
    }

    // MARK: Answers

    /// Publishes the load and passes answers to their callers. If there are several answers for callers on other
    /// threads, one task resumes all of these callers. To resume the callers here would cost a thread switch for every
    /// five to ten requests: the first resumed caller wakes a thread, which runs this one caller and sleeps again.
    private func publish() {
        let answers = streams.publish()
        guard answers.count > 1, let context else {
            for answer in answers { answer.continuation.resume(returning: answer.outcome) }
            return
        }
        inbox.beginHandout()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        Task { [inbox] in
            for answer in answers { answer.continuation.resume(returning: answer.outcome) }
            // Let the callers that were just resumed run first.
            await Task.yield()
            if inbox.endHandout() { bound.eventLoop.execute { bound.value.wake() } }
        }
    }

    // MARK: Orders

    /// Called on the loop after the first command of a batch was added to the inbox.
    func wake() {
        isWakeScheduled = false
        // An earlier read may already have taken the commands.
        if takeOrders() || accepted > 0 { settle(now: .now()) }
    }

    /// Starts a request of a caller on the loop, without inbox and lock. Requests that start in the same turn of the
    /// event loop are written together.
    func start(_ call: ClientCall) {
        call.isFromLoop = true
        streams.accept(call)
        accepted += 1
        if accepted >= Self.burst { return settle(now: .now()) }
        guard !isWakeScheduled else { return }
        guard let context else { return publish() }
        isWakeScheduled = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.wake() }
    }

    /// Returns whether there were any commands.
    @discardableResult
    private func takeOrders() -> Bool {
        let commands = inbox.takeAll()
        guard !commands.isEmpty else { return false }
        for command in commands {
            switch command {
            case .start(let call): streams.accept(call)
            case .cancel(let call): streams.cancel(call)
            case .proven: streams.proven()
            case .drain: drain()
            case .close(let reason): end(reason)
            }
        }
        inbox.recycle(commands)
        return true
    }

    private func drain() {
        streams.leave("closed by this side")
        guard drainDeadline == nil, let session = driver.session else { return }
        drainDeadline = .now() + TimeAmount(configuration.drainTimeout)
        session.leave(code: HTTP2ErrorCode.noError.rawValue, debugData: [])
    }

    // MARK: Life

    private func secured(_ context: ChannelHandlerContext, negotiated: String?) {
        guard negotiated == "h2" else {
            fail(ConnectProgress.noHTTP2(configuration))
            return end("the peer does not speak HTTP/2")
        }
        connectState = .awaitingSettings
        guard let session = Session(.client, events: streams) else { return end("no memory for a session") }
        if configuration.firstStream > 1 { session.setNextStream(configuration.firstStream) }
        driver.start(session)
        streams.secured(session)
        do {
            try session.open(
                [
                    nghttp2_settings_entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
                    nghttp2_settings_entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, Self.streamWindow),
                    nghttp2_settings_entry(
                        NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: configuration.maximumHeaderList)),
                ], connectionWindow: Self.connectionWindow)
        } catch {
            return end("\(error)")
        }
        settle(now: .now())
    }

    /// Completes a batch: starts waiting requests, writes, checks the deadlines, publishes the load.
    private func settle(now: NIODeadline) {
        accepted = 0
        guard let context, !streams.life.isClosed else { return publish() }
        do {
            // While the channel is full, requests wait in `streams` and not in nghttp2, because in `streams` they still
            // count as not written.
            if context.channel.isWritable { _ = streams.pump(atMost: Self.burst) }
            repeat {
                // Publish before the bytes are sent, so that code that sees their effect also sees the new load.
                publish()
                // The flush may free streams, because an outgoing RST_STREAM closes its stream.
                try driver.flush(context)
            } while context.channel.isWritable && streams.pump(atMost: Self.burst)
        } catch {
            return end("\(error)")
        }
        // The flush may have closed the channel.
        guard !streams.life.isClosed else { return }
        if driver.session != nil, driver.isFinished { return end(streams.violation ?? "the last request was answered") }
        if streams.life.isOpen, ready != nil { becomeReady() }
        heartbeat.awaiting(streams.streamsInUse > 0, now: now)
        publish()
        arm()
    }

    private func becomeReady() {
        logger.debug(
            "HTTP/2 connection open",
            metadata: ["host": "\(configuration.host)", "streams": "\(streams.streamLimit)"])
        publish()
        ready?.succeed()
        ready = nil
    }

    private func fail(_ error: HTTP2ConnectError) {
        ready?.fail(error)
        ready = nil
    }

    /// Ends the connection. Callers get their answers at once; the channel may close a moment later.
    private func end(_ reason: String) {
        let reason = streams.violation ?? reason
        guard streams.close(reason) else { return }
        let final = streams.life.closeReason ?? reason
        fail(connectState.ended(configuration, reason: final))
        driver.stop()
        timer?.task.cancel()
        timer = nil
        publish()
        logger.debug("HTTP/2 connection closed", metadata: ["host": "\(configuration.host)", "reason": "\(final)"])
        closed.fire(final)
        context?.close(promise: nil)
    }

    // MARK: Time

    /// Keeps one timer for the next deadline. A timer is replaced only by a timer with an earlier deadline. So if the
    /// deadline of a timer was removed, the timer may fire early.
    private func arm() {
        guard let context else { return }
        var nearest = ready == nil ? heartbeat.next : connectDeadline
        if let deadline = streams.nearestDeadline { nearest = min(nearest, deadline) }
        if let drainDeadline { nearest = min(nearest, drainDeadline) }
        if let timer, timer.at <= nearest { return }
        timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = (nearest, context.eventLoop.scheduleTask(deadline: nearest) { bound.value.ring() })
    }

    private func ring() {
        timer = nil
        let now = NIODeadline.now()
        if ready != nil, now >= connectDeadline {
            fail(connectState.timeout(configuration))
            return end("not ready within \(configuration.connectTimeout)")
        }
        if let drainDeadline, now >= drainDeadline {
            return end("requests in flight did not end within \(configuration.drainTimeout)")
        }
        streams.expire(now: now)
        if ready == nil {
            switch heartbeat.check(now: now) {
            case .wait: break
            case .ping: driver.session?.ping()
            case .dead:
                streams.fellSilent = streams.streamsInUse > 0
                return end("the peer sent nothing for \(configuration.pingTimeout) after a PING")
            }
        }
        settle(now: now)
    }
}
