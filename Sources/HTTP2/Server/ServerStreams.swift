/// The requests of one connection on the server's side. This object uses the session but not the channel. Only the
/// connection's event loop may use this object.
final class ServerStreams {
    /// Complete requests that the handler has not received yet. They wait until nghttp2 has returned, because a handler
    /// may call nghttp2.
    private var arrived: [(slot: Int, exchange: ServerExchange)] = []
    private(set) var violation: String?
    /// Whether the peer's first SETTINGS have arrived.
    private(set) var isOpen = false
    /// The number of requests without an answer.
    private(set) var owed = 0

    private let configuration: HTTP2ServerConfiguration
    private var session: Session?
    private var exchanges = SlotTable<ServerExchange>()

    init(_ configuration: HTTP2ServerConfiguration) { self.configuration = configuration }

    func start(_ session: Session) { self.session = session }

    func stop() {
        session = nil
        arrived = []
        exchanges = SlotTable()
        owed = 0
    }

    /// The requests that became complete since the last call.
    func takeArrived() -> [(slot: Int, exchange: ServerExchange)] {
        guard !arrived.isEmpty else { return [] }
        defer { arrived = [] }
        return arrived
    }

    /// Answers a request. The call has no effect if the stream was already answered or is closed.
    ///
    /// - Returns: the name of an invalid field, if there is one; then the stream was reset.
    func respond(slot: Int, stream: Int32, status: Int, headers: [HTTP2Header], body: [UInt8]) -> String? {
        guard let session, let exchange = settle(slot, stream) else { return nil }
        // Answers to HEAD, 204 and 304 have no content (RFC 9110 6.4.1).
        let hasBody = !body.isEmpty && exchange.request.method != "HEAD" && status != 204 && status != 304
        exchange.answer = hasBody ? body : []
        do {
            try session.respond(stream, status: status, headers: headers, hasBody: hasBody, slot: slot)
            return nil
        } catch {
            session.reset(stream, code: HTTP2ErrorCode.internalError.rawValue)
            if case .invalidHeader(let name) = error { return name }
            return nil
        }
    }

    func reset(slot: Int, stream: Int32, code: UInt32) {
        guard settle(slot, stream) != nil else { return }
        session?.reset(stream, code: code)
    }

    /// Whether the stream's ID is not above the last stream of our GOAWAY. The client repeats the requests of higher
    /// streams, so they must not be processed.
    func serves(_ stream: Int32) -> Bool { stream <= session?.lastServed ?? .max }

    private func settle(_ slot: Int, _ stream: Int32) -> ServerExchange? {
        // The slot may already belong to another stream.
        guard let exchange = exchanges[slot], exchange.stream == stream, !exchange.isSettled else { return nil }
        if exchange.isOwed { owed -= 1 }
        exchange.isSettled = true
        return exchange
    }
}

extension ServerStreams: SessionEvents {
    func streamOpened(_ stream: Int32) -> Int? {
        serves(stream) ? exchanges.insert(ServerExchange(stream: stream)) : nil
    }

    func headersBegan(slot: Int) { exchanges[slot]?.blocks += 1 }

    func header(slot: Int, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let exchange = exchanges[slot] else { return true }
        exchange.headerListSize += name.count + value.count + 32
        guard exchange.headerListSize <= configuration.maximumHeaderList else { return false }
        guard exchange.blocks == 1 else { return true }
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

    func data(slot: Int, bytes: UnsafeBufferPointer<UInt8>) {
        guard let exchange = exchanges[slot], !exchange.isSettled else { return }
        exchange.bodySize += bytes.count
        guard exchange.bodySize <= configuration.maximumBodyRead else {
            reset(slot: slot, stream: exchange.stream, code: HTTP2ErrorCode.enhanceYourCalm.rawValue)
            return
        }
        let room = configuration.maximumRequestBody - exchange.request.body.count
        exchange.request.body.append(contentsOf: bytes.prefix(room))
        if bytes.count > room { exchange.request.bodyTooLarge = true }
    }

    func ended(slot: Int) {
        guard let exchange = exchanges[slot], !exchange.isComplete, !exchange.isSettled else { return }
        exchange.isComplete = true
        owed += 1
        arrived.append((slot, exchange))
    }

    func headersWritten(slot: Int) {}

    func readBody(slot: Int, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        guard let exchange = exchanges[slot] else { return (0, true) }
        let count = min(buffer.count, exchange.answer.count - exchange.sent)
        let end = exchange.sent + count
        _ = buffer.update(fromContentsOf: exchange.answer[exchange.sent..<end])
        exchange.sent = end
        return (count, end == exchange.answer.count)
    }

    func streamClosed(slot: Int, stream: Int32, code: UInt32) {
        guard let exchange = exchanges[slot], exchange.stream == stream else { return }
        if exchange.isOwed { owed -= 1 }
        exchange.isSettled = true
        exchanges.remove(slot)
    }

    func settingsReceived() { isOpen = true }

    /// Nothing to do: a client that sends GOAWAY still gets its answers.
    func goAwayReceived(_ goAway: GoAway) {}

    func violated(_ complaint: String) { violation = complaint }
}
