internal import NIOConcurrencyHelpers
internal import NIOCore

/// The waiting and running requests of one connection, with their deadlines. This class uses the session but not the
/// channel, so it works without sockets. Only the connection's event loop may use it.
final class ClientStreams {
    private(set) var life = ConnectionLife()
    private(set) var goAway: GoAway?
    /// How the peer violated the protocol; `nil`: there was no violation.
    private(set) var violation: String?
    /// When bytes last came from the peer. `publish` copies this to the snapshot.
    var lastRead = NIODeadline.uptimeNanoseconds(0)
    /// Whether the connection ended because the peer sent nothing while answers were awaited. `publish` copies this to
    /// the snapshot.
    var fellSilent = false

    let snapshot = NIOLockedValueBox(ClientSnapshot())

    private let configuration: HTTP2ClientConfiguration
    private var session: Session?
    private var calls = SlotTable<ClientCall>()
    private var line = WaitingLine()
    private var deadlines = DeadlineHeap()
    private var budget: StreamBudget
    /// Answers that are not yet passed to callers on the loop.
    private var answers: [ClientCall.Answer] = []
    /// Answers for callers on other executors.
    private var distantAnswers: [ClientCall.Answer] = []
    /// The body bytes of incomplete answers.
    private var buffered = 0

    init(_ configuration: HTTP2ClientConfiguration) {
        self.configuration = configuration
        budget = StreamBudget(cap: configuration.maximumConcurrentStreams, initial: configuration.initialConcurrency)
    }

    var streamsInUse: Int { budget.inUse }
    var streamLimit: Int { budget.limit }
    var waiting: Int { line.count }
    var nearestDeadline: NIODeadline? { deadlines.nearest }

    /// Starts the session, after TLS and `h2` were negotiated.
    func secured(_ session: Session) {
        self.session = session
        life.secured()
    }

    /// Publishes the connection's load for other threads, then answers the callers. So when a caller has its answer,
    /// the published load no longer includes the caller's request.
    ///
    /// - Returns: the answers for callers on other threads. The caller of this function must pass them on.
    func publish() -> [ClientCall.Answer] {
        let now = ClientSnapshot(
            isUsable: life.isOpen, streamsInUse: budget.inUse, streamLimit: budget.limit, waiting: line.count,
            goAway: goAway, lastRead: lastRead.uptimeNanoseconds, fellSilent: fellSilent)
        snapshot.withLockedValue { $0 = now }
        if !answers.isEmpty {
            for answer in answers { answer.continuation.resume(returning: answer.outcome) }
            answers.removeAll(keepingCapacity: true)
        }
        guard !distantAnswers.isEmpty else { return [] }
        defer { distantAnswers = [] }
        return distantAnswers
    }

    // MARK: Orders

    func accept(_ call: ClientCall) {
        if call.phase == .withdrawn { return answer(call, .failure(.cancelled)) }
        if let refusal = life.refusal { return answer(call, .failure(.notProcessed(refusal))) }
        let slot = calls.insert(call)
        call.phase = .held(slot: slot)
        deadlines.insert(slot, deadline: call.deadline)
        line.append(slot)
    }

    func cancel(_ call: ClientCall) {
        switch call.phase {
        case .submitted: call.phase = .withdrawn
        case .held(let slot): abandon(slot, .cancelled)
        case .withdrawn, .done: break
        }
    }

    /// Records that the peer accepted a request's credentials. From now on, the limit `initialConcurrency` no longer
    /// applies.
    func proven() { budget.isProven = true }

    /// Accepts no new requests, and gives waiting requests back to their callers.
    func leave(_ reason: String) {
        guard life.leave(reason) else { return }
        returnWaiting()
    }

    /// Starts the requests that may start. Returns whether a request was started.
    func pump(atMost limit: Int = .max) -> Bool {
        guard let session, life.isOpen else { return false }
        var started = 0
        while started < limit, let slot = line.first, let call = calls[slot] {
            guard budget.admits(body: call.request.body.count, window: session.sendWindow) else { break }
            guard session.nextStream < 1 << 31 else {
                leave("its stream ids are used up")
                session.leave(code: HTTP2ErrorCode.noError.rawValue, debugData: [])
                break
            }
            line.remove(slot)
            start(call, slot: slot, session: session)
            started += 1
        }
        return started > 0
    }

    /// Ends every request whose deadline has passed.
    func expire(now: NIODeadline) {
        while let slot = deadlines.popExpired(now: now) {
            guard let call = calls[slot] else { continue }
            abandon(
                slot,
                StreamEnd.timedOut(after: call.timeout, started: call.stream != nil, written: call.isWritten))
        }
    }

    /// Ends the connection. Every caller gets an answer.
    func close(_ reason: String) -> Bool {
        guard life.close(reason) else { return false }
        returnWaiting()
        for (slot, call) in calls.occupied {
            finish(call, slot: slot, .failure(StreamEnd.connectionLost(reason, written: call.isWritten)))
            calls.remove(slot)
        }
        budget.inUse = 0
        budget.unsent = 0
        session = nil
        return true
    }

    // MARK: One call

    private func start(_ call: ClientCall, slot: Int, session: Session) {
        do {
            call.stream = try session.submit(call.request, slot: slot)
            if configuration.onAnswer != nil { call.startedAt = .now() }
            budget.inUse += 1
            budget.unsent += call.request.body.count
        } catch {
            let reason =
                switch error {
                case .invalidHeader(let name): "the field \(name) has a byte that HTTP forbids"
                case .library(let error): error.description
                }
            finish(call, slot: slot, .failure(.notProcessed(reason)))
            calls.remove(slot)
        }
    }

    /// Ends a call from this side: removes it from the queue, or resets its stream with RST_STREAM.
    private func abandon(_ slot: Int, _ failure: HTTP2Failure) {
        guard let call = calls[slot], !call.isAnswered else { return }
        finish(call, slot: slot, .failure(failure))
        if let stream = call.stream {
            session?.reset(stream, code: HTTP2ErrorCode.cancel.rawValue)
        } else {
            line.remove(slot)
            calls.remove(slot)
        }
    }

    private func finish(_ call: ClientCall, slot: Int, _ result: ClientCall.Outcome) {
        guard !call.isAnswered else { return }
        buffered -= call.body.count
        deadlines.remove(slot)
        answer(call, result)
    }

    private func answer(_ call: ClientCall, _ result: ClientCall.Outcome) {
        guard let answer = call.finish(result) else { return }
        if call.isFromLoop { answers.append(answer) } else { distantAnswers.append(answer) }
    }

    private func returnWaiting() {
        guard let refusal = life.refusal else { return }
        while let slot = line.first {
            line.remove(slot)
            guard let call = calls.remove(slot) else { continue }
            finish(call, slot: slot, .failure(.notProcessed(refusal)))
        }
    }
}

extension ClientStreams: SessionEvents {
    /// Servers cannot open streams, because push is disabled.
    func streamOpened(_ stream: Int32) -> Int? { nil }

    func headersBegan(slot: Int) {
        guard let call = calls[slot] else { return }
        guard call.awaitsFinalHeaders else { return call.isInTrailers = true }
        call.status = 0
        call.fields.removeAll()
    }

    func header(slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let call = calls[slot], !call.isAnswered else { return true }
        call.headerListSize += name.count + value.count + 32
        guard call.headerListSize <= configuration.maximumHeaderList else {
            abandon(
                slot, .unanswered("the answer's header is larger than \(configuration.maximumHeaderList) bytes"))
            return true
        }
        if name.first == UInt8(ascii: ":") {
            // nghttp2 accepts `:status` only once per block, and only with three digits.
            call.status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
            return true
        }
        if !call.isInTrailers { call.fields.append(name: name, value: value) }
        return true
    }

    func data(slot: Int, bytes: UnsafeBufferPointer<UInt8>) {
        guard let call = calls[slot], !call.isAnswered else { return }
        let size = call.body.count + bytes.count
        if size > configuration.maximumResponseBody {
            return abandon(
                slot, .unanswered("the answer's body is larger than \(configuration.maximumResponseBody) bytes"))
        }
        if buffered + bytes.count > configuration.maximumBufferedBytes {
            return abandon(
                slot,
                .unanswered(
                    "the unfinished answers on this connection are together larger than \(configuration.maximumBufferedBytes) bytes"
                ))
        }
        buffered += bytes.count
        call.body.append(contentsOf: bytes)
    }

    func ended(slot: Int) {
        guard let call = calls[slot], !call.isAnswered else { return }
        finish(call, slot: slot, .success(HTTP2Response(status: call.status, fields: call.fields, body: call.body)))
        if let startedAt = call.startedAt { configuration.onAnswer?(call.timing(startedAt: startedAt, now: .now())) }
        // The answer came before the whole request was sent, so the rest of the request is useless.
        if call.unsent > 0, let stream = call.stream {
            session?.reset(stream, code: HTTP2ErrorCode.cancel.rawValue)
        }
    }

    func headersWritten(slot: Int) { calls[slot]?.isWritten = true }

    func readBody(slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        guard let call = calls[slot] else { return (0, true) }
        let count = min(buffer.count, call.unsent)
        call.request.body.withUnsafeBytes { body in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: .init(rebasing: body[call.sent..<call.sent + count]))
        }
        call.sent += count
        budget.unsent -= count
        return (count, call.unsent == 0)
    }

    func streamClosed(slot: Int, stream: Int32, code: UInt32) {
        guard let call = calls[slot], call.stream == stream else { return }
        let end = StreamEnd.closed(code: code, stream: Int(stream), written: call.isWritten, goAway: goAway)
        finish(call, slot: slot, .failure(end))
        budget.inUse -= 1
        budget.unsent -= call.unsent
        calls.remove(slot)
    }

    func settingsReceived() {
        guard let session else { return }
        budget.peerLimit = session.peerMaximumConcurrentStreams
        _ = life.settingsArrived()
    }

    func goAwayReceived(_ goAway: GoAway) {
        self.goAway = goAway
        leave(goAway.text)
    }

    func violated(_ complaint: String) {
        violation = "the peer broke the protocol: \(complaint)"
    }
}
