internal import CNghttp2
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore

/// The client's side of a connection: the waiting and running requests, their deadlines, and PING.
final class ClientHandler: Session {
    /// The body bytes that the server may send without a WINDOW_UPDATE. A list of 10,000 channels (300 KB) fits.
    private static let streamWindow = 1 << 20
    private static let connectionWindow: Int32 = 8 << 20

    /// The least time between two sweeps, because each looks at every request.
    private static let sweepPause = TimeAmount.milliseconds(10)

    /// What other threads see. The loop writes it before and after each write.
    let state = NIOLockedValueBox(HTTP2ConnectionState())

    private let configuration: HTTP2ClientConfiguration
    private let logger: Logger
    private let connectDeadline: NIODeadline
    private var ready: EventLoopPromise<Void>?
    /// The requests without a stream, in order. Those that are done stay until their turn, or until they are half of it.
    private var queue = CircularBuffer<ClientCall>()
    /// The requests in `queue` that are done.
    private var doneInQueue = 0
    /// The requests with a stream.
    private var calls: [Int32: ClientCall] = [:]
    /// The requests that do not wait for a stream any more, and are still counted in `state.waiting`.
    private var dequeueCount = 0
    /// The outcomes that the callers do not have yet.
    private var outcomes: [(call: ClientCall, outcome: ClientCall.Outcome)] = []
    private var budget: StreamBudget
    private var heartbeat: Heartbeat
    private var goAway: HTTP2GoAway?
    private var fellSilent = false
    /// The body bytes of incomplete answers.
    private var bodyBytes = 0
    /// No deadline of a request is earlier.
    private var nearestDeadline = NIODeadline.distantFuture
    private var drainDeadline = NIODeadline.distantFuture
    private var lastSweep: NIODeadline

    /// - Parameter ready: succeeds when requests may start. It fails with an `HTTP2ConnectError`.
    init(
        _ configuration: HTTP2ClientConfiguration, connectDeadline: NIODeadline, ready: EventLoopPromise<Void>,
        on loop: any EventLoop, logger: Logger
    ) throws {
        self.configuration = configuration
        self.connectDeadline = connectDeadline
        self.ready = ready
        self.logger = logger
        budget = StreamBudget(cap: configuration.maximumConcurrentStreams, initial: configuration.initialStreamLimit)
        heartbeat = Heartbeat(
            idle: TimeAmount(configuration.idlePingInterval), busy: TimeAmount(configuration.busyPingInterval),
            timeout: TimeAmount(configuration.pingTimeout), now: loop.now)
        lastSweep = loop.now
        try super.init(.client, on: loop)
    }

    // MARK: Orders

    /// Takes a call, whose request starts as soon as it may.
    func start(_ call: ClientCall) {
        let refusal =
            closeReason.map { "the connection is closed: \($0)" }
            ?? drainReason.map { "the connection is draining: \($0)" }
        guard call.phase == .submitted, refusal == nil else {
            finish(call, .failure(call.phase == .withdrawn ? .cancelled : .notProcessed(refusal ?? "")))
            return publish()
        }
        call.phase = .live
        queue.append(call)
        nearestDeadline = min(nearestDeadline, call.deadline)
        writeSoon()
    }

    func cancel(_ call: ClientCall) {
        if call.phase == .submitted { return call.phase = .withdrawn }
        abandon(call, .cancelled)
        writeSoon()
    }

    /// The peer has accepted a request's credentials. From now on, the limit `initialStreamLimit` no longer applies.
    func liftLimit() {
        budget.isProven = true
        writeSoon()
    }

    /// Ends the connection after the requests in flight.
    func drain() {
        guard !isEnded, drainDeadline == .distantFuture, let context else { return }
        beginDrain("closed by this side")
        drainDeadline = context.eventLoop.now + TimeAmount(configuration.drainTimeout)
        submitGoAway(code: HTTP2ErrorCode.noError.rawValue, debugData: [], lastStream: 0)
        writeNow()
    }

    // MARK: A batch

    override func tlsNegotiated() {
        if configuration.firstStreamID > 1 {
            nghttp2_session_set_next_stream_id(pointer, configuration.firstStreamID)
        }
        submitSettings([
            NGHTTP2_SETTINGS_ENABLE_PUSH: 0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE: Self.streamWindow,
            NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE: configuration.maximumHeaderListSize,
        ])
        nghttp2_session_set_local_window_size(pointer, 0, 0, Self.connectionWindow)
    }

    override func didRead(now: NIODeadline) { heartbeat.noteRead(now: now) }

    override func beforeWrite() -> Bool {
        guard let context else { return false }
        let now = context.eventLoop.now
        // While the channel is full, requests wait here and not in nghttp2, because here they still count as not
        // written.
        let hasStarted = context.channel.isWritable && startRequests(now: now)
        heartbeat.setAwaiting(!calls.isEmpty, now: now)
        // Publish before the bytes are sent, so that code that sees their effect also sees the new load.
        publish()
        if stage == .open, let ready {
            self.ready = nil
            logger.debug(
                "HTTP/2 connection open",
                metadata: ["host": "\(configuration.host)", "streams": "\(budget.limit)"])
            ready.succeed()
        }
        return hasStarted
    }

    /// Starts the requests that may start. Returns whether a request was started.
    private func startRequests(now: NIODeadline) -> Bool {
        guard stage == .open, drainReason == nil else { return false }
        var hasStarted = false
        while let call = queue.first {
            guard call.phase == .live else {
                queue.removeFirst()
                doneInQueue -= 1
                continue
            }
            let window = Int(nghttp2_session_get_remote_window_size(pointer))
            guard budget.admits(body: call.request.body.count, inUse: calls.count, window: window) else { break }
            guard nghttp2_session_get_next_stream_id(pointer) < 1 << 31 else {
                beginDrain("its stream ids are used up")
                submitGoAway(code: HTTP2ErrorCode.noError.rawValue, debugData: [], lastStream: 0)
                break
            }
            queue.removeFirst()
            begin(call, now: now)
            hasStarted = true
        }
        return hasStarted
    }

    private func begin(_ call: ClientCall, now: NIODeadline) {
        let request = call.request
        do {
            // nghttp2 never indexes :path by default. Apple recommends the same (docs/internals/apns.md 6).
            let stream = try submit(
                pseudo: [
                    HTTP2Header(":method", request.method), HTTP2Header(":scheme", "https"),
                    HTTP2Header(":authority", request.authority), HTTP2Header(":path", request.path),
                ], request.headers, hasBody: !request.body.isEmpty
            ) { fields, count, body in nghttp2_submit_request(pointer, nil, fields, count, body, nil) }
            call.stream = stream
            call.openedAt = now
            calls[stream] = call
            dequeueCount += 1
            budget.unsentBytes += request.body.count
        } catch {
            finish(call, .failure(.notProcessed(error.reason)))
        }
    }

    /// Publishes the load, then answers the callers. So when a caller has its answer, the published load no longer
    /// includes the caller's request.
    private func publish() {
        state.withLockedValue { state in
            state.isUsable = stage == .open && drainReason == nil && !isEnded
            state.streamsInUse = calls.count
            state.streamLimit = budget.limit
            state.waitCount -= dequeueCount
            state.goAway = goAway
            state.fellSilent = fellSilent
        }
        dequeueCount = 0
        let known = outcomes
        outcomes.removeAll()
        for (call, outcome) in known { call.continuation?.resume(returning: outcome) }
    }

    // MARK: The end of a call

    private func finish(_ call: ClientCall, _ outcome: ClientCall.Outcome) {
        guard call.phase != .done else { return }
        call.phase = .done
        if call.stream == nil { dequeueCount += 1 }
        bodyBytes -= call.response.body.count
        call.dropAnswer()
        outcomes.append((call, outcome))
    }

    /// Ends a call from this side, and resets its stream.
    private func abandon(_ call: ClientCall, _ failure: HTTP2Failure) {
        guard call.phase == .live else { return }
        finish(call, .failure(failure))
        if let stream = call.stream { return reset(stream, code: HTTP2ErrorCode.cancel.rawValue) }
        doneInQueue += 1
        if doneInQueue > queue.count / 2 {
            queue.removeAll { $0.phase == .done }
            doneInQueue = 0
        }
    }

    /// Accepts no new requests, and gives waiting requests back to their callers.
    private func beginDrain(_ reason: String) {
        guard drainReason == nil else { return }
        drainReason = reason
        returnWaiting("the connection is draining: \(reason)")
    }

    private func returnWaiting(_ reason: String) {
        for call in queue { finish(call, .failure(.notProcessed(reason))) }
        queue.removeAll()
        doneInQueue = 0
    }

    override func ended(_ reason: String, cause: (any Error)?) {
        let final = closeReason ?? reason
        returnWaiting("the connection is closed: \(final)")
        for call in calls.values {
            finish(call, .failure(.connectionLost(reason, written: call.headersWritten)))
        }
        calls = [:]
        publish()
        ready?.fail(configuration.error(at: stage, final, cause: cause))
        ready = nil
        logger.debug("HTTP/2 connection closed", metadata: ["host": "\(configuration.host)", "reason": "\(final)"])
    }

    // MARK: Time

    override var nextSweep: NIODeadline {
        let next = min(ready == nil ? heartbeat.next : connectDeadline, nearestDeadline, drainDeadline)
        return max(next, lastSweep + Self.sweepPause)
    }

    override func sweep(now: NIODeadline) {
        lastSweep = now
        if ready != nil, now >= connectDeadline {
            return end(
                "not ready within \(configuration.connectTimeout)", cause: HTTP2ClientConfiguration.TimedOut())
        }
        if now >= drainDeadline { return end("requests in flight did not end within \(configuration.drainTimeout)") }
        if now >= nearestDeadline { expire(now: now) }
        guard ready == nil else { return }
        switch heartbeat.check(now: now) {
        case .wait: break
        case .ping: _ = nghttp2_submit_ping(pointer, 0, nil)
        case .dead:
            fellSilent = !calls.isEmpty
            end("the peer sent nothing for \(configuration.pingTimeout) after a PING")
        }
    }

    /// Ends every request whose deadline has passed.
    private func expire(now: NIODeadline) {
        for call in live where call.deadline <= now {
            let started = call.stream != nil
            abandon(call, .timedOut(after: call.timeout, started: started, written: call.headersWritten))
        }
        nearestDeadline = live.map(\.deadline).min() ?? .distantFuture
    }

    private var live: [ClientCall] { (Array(queue) + calls.values).filter { $0.phase == .live } }

    // MARK: Events

    override func headersBegan(_ stream: Int32) { calls[stream]?.headersBegan() }

    override func header(
        _ stream: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard let call = calls[stream], call.phase == .live else { return true }
        let limit = configuration.maximumHeaderListSize
        if !call.take(name: name, value: value, limit: limit) {
            abandon(call, .unanswered("the answer's header is larger than \(limit) bytes"))
        }
        return true
    }

    override func data(_ stream: Int32, bytes: UnsafeBufferPointer<UInt8>) {
        guard let call = calls[stream], call.phase == .live else { return }
        let (limit, shared) = (configuration.maximumResponseBody, configuration.maximumBufferedBytes)
        guard call.response.body.count + bytes.count <= limit else {
            return abandon(call, .unanswered("the answer's body is larger than \(limit) bytes"))
        }
        guard bodyBytes + bytes.count <= shared else {
            return abandon(
                call,
                .unanswered("the unfinished answers on this connection are together larger than \(shared) bytes"))
        }
        bodyBytes += bytes.count
        call.take(body: bytes)
    }

    override func peerFinished(_ stream: Int32) {
        guard let call = calls[stream], call.phase == .live else { return }
        let response = call.response
        finish(call, .success(response))
        if let onAnswer = configuration.onAnswer, let now = context?.eventLoop.now {
            onAnswer(Duration(call.openedAt - call.calledAt), Duration(now - call.openedAt))
        }
        // The answer came before the whole request was sent, so the rest of the request is useless.
        if call.unsentBytes > 0 { reset(stream, code: HTTP2ErrorCode.cancel.rawValue) }
    }

    override func headersWritten(_ stream: Int32) { calls[stream]?.headersWritten = true }

    override func bodyToSend(
        _ stream: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> (count: Int, isLast: Bool) {
        guard let call = calls[stream] else { return (0, true) }
        let count = call.copyBody(into: buffer)
        budget.unsentBytes -= count
        return (count, call.unsentBytes == 0)
    }

    override func streamClosed(_ stream: Int32, code: UInt32) {
        guard let call = calls.removeValue(forKey: stream) else { return }
        budget.unsentBytes -= call.unsentBytes
        finish(call, .failure(.streamClosed(stream, code: code, written: call.headersWritten, goAway: goAway)))
    }

    override func settingsReceived() {
        super.settingsReceived()
        budget.peerLimit = Int(
            nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    override func goAwayReceived(_ goAway: HTTP2GoAway) {
        self.goAway = goAway
        beginDrain(goAway.text)
    }
}
