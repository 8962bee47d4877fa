internal import CNghttp2
internal import NIOCore
internal import NIOTLS

/// One HTTP/2 connection in a pipeline: nghttp2's session (frames, HPACK, flow control, stream states), the channel's
/// bytes, one timer, and the end. `ClientHandler` and `ServerHandler` add what is theirs.
///
/// **Ownership.** Only this object owns the C session, and frees it in `deinit`. C gets one pointer: this object, *not*
/// retained. Streams are numbers. So nothing is retained for C, and nothing can dangle.
///
/// Only the connection's event loop may use it.
class Session: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Role {
        case client
        case server
    }

    /// How far the connection has come.
    enum Stage {
        /// TLS is being set up.
        case handshaking
        /// TLS and `h2` are negotiated; the peer's SETTINGS are awaited (RFC 9113 3.4).
        case awaitingSettings
        case open
    }

    /// The bytes of one write: a few full TLS records.
    private static let chunkSize = 64 << 10

    let pointer: OpaquePointer
    private(set) var stage = Stage.handshaking
    private(set) var context: ChannelHandlerContext?
    /// Why the connection has ended; `nil`: it has not.
    private(set) var closeReason: String?
    /// Why no request may start; `nil`: requests may start, once the connection is open.
    var drainReason: String?
    /// nghttp2's last message about the peer's frames. It explains a violation better than the error code.
    var frameError = ""
    /// How the peer violated the protocol; `nil`: there was no violation.
    var violation: String?
    /// Whether this side has sent GOAWAY.
    private(set) var hasSentGoAway = false
    /// Succeeds with the reason when the connection has ended.
    let closed: EventLoopPromise<String>

    private var outbound = ByteBuffer()
    /// A write may make the channel call this object again, before the write returns.
    private var isFlushing = false
    private var isWriteScheduled = false
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?

    /// - Throws: `OutOfMemory`
    init(_ role: Role, on loop: any EventLoop) throws {
        pointer = try Self.makeSession(role)
        closed = loop.makePromise()
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        nghttp2_session_del(pointer)
        // Only a handler that was never in a pipeline has not ended.
        closed.succeed("the connection was never used")
    }

    struct OutOfMemory: Error {}

    private static func makeSession(_ role: Role) throws -> OpaquePointer {
        var (callbacks, option, session): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { throw OutOfMemory() }
        defer { nghttp2_session_callbacks_del(callbacks) }
        SessionCallbacks.install(in: callbacks)
        guard nghttp2_option_new(&option) == 0, let option else { throw OutOfMemory() }
        defer { nghttp2_option_del(option) }
        // Closed streams would be kept only for the priority tree, which is deprecated (RFC 9113 5.3).
        nghttp2_option_set_no_closed_streams(option, 1)
        let status =
            switch role {
            case .client: nghttp2_session_client_new2(&session, callbacks, nil, option)
            case .server: nghttp2_session_server_new2(&session, callbacks, nil, option)
            }
        guard status == 0, let session else { throw OutOfMemory() }
        return session
    }

    final var isEnded: Bool { closeReason != nil }

    // MARK: For the client and the server

    /// TLS and `h2` are negotiated: the first SETTINGS are to be submitted.
    func tlsNegotiated() {}

    /// Bytes came from the peer.
    func didRead(now: NIODeadline) {}

    /// Called before each write. Returns whether there may be more to write after it.
    func beforeWrite() -> Bool { false }

    /// When `sweep` must be called next, at the latest.
    var nextSweep: NIODeadline { .distantFuture }

    /// Does what is due: deadlines, PING, the end of a drain.
    func sweep(now: NIODeadline) {}

    /// The connection has ended. `closeReason` also says why it was draining before.
    ///
    /// - Parameter cause: the error that ended it, if it was an error.
    func ended(_ reason: String, cause: (any Error)?) {}

    // MARK: Events
    // nghttp2 calls these. They may change state, submit frames and close the channel, but must neither receive nor
    // take bytes.

    /// Server only: a new request begins. Returns `false` to refuse it.
    func streamOpened(_ stream: Int32) -> Bool { false }

    /// A header block begins: the first one, one after an informational answer, or trailers.
    func headersBegan(_ stream: Int32) {}

    /// One field of the block. `false` resets the stream.
    func header(_ stream: Int32, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) -> Bool { true }

    func data(_ stream: Int32, bytes: UnsafeBufferPointer<UInt8>) {}

    /// The peer has finished sending on this stream.
    func peerFinished(_ stream: Int32) {}

    /// The stream's first HEADERS were passed to the channel.
    func headersWritten(_ stream: Int32) {}

    /// Copies the next bytes of the stream's body into `buffer`; `isLast` ends the stream.
    func bodyToSend(_ stream: Int32, into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        (0, true)
    }

    /// The stream's last event.
    func streamClosed(_ stream: Int32, code: UInt32) {}

    func settingsReceived() { stage = .open }

    func goAwayReceived(_ goAway: HTTP2GoAway) {}

    // MARK: Channel events

    final func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm()
    }

    final func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        end("the connection was closed")
    }

    final func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated) = event as? TLSUserEvent, !isEnded {
            guard negotiated == "h2" else { return end("the peer does not speak HTTP/2", cause: TLSError.noALPNMatch) }
            stage = .awaitingSettings
            tlsNegotiated()
            writeNow()
        }
        context.fireUserInboundEventTriggered(event)
    }

    final func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard stage != .handshaking, !isEnded else { return }
        let status = unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            nghttp2_session_mem_recv(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
        }
        if status < 0 { end("the peer broke the protocol: \(frameError.isEmpty ? Self.strerror(status) : frameError)") }
    }

    final func channelReadComplete(context: ChannelHandlerContext) {
        didRead(now: context.eventLoop.now)
        writeNow()
        context.fireChannelReadComplete()
    }

    final func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { writeNow() }
        context.fireChannelWritabilityChanged()
    }

    final func errorCaught(context: ChannelHandlerContext, error: any Error) { end(error.summary, cause: error) }

    final func channelInactive(context: ChannelHandlerContext) {
        end("the peer closed the connection")
        context.fireChannelInactive()
    }

    // MARK: Batches

    /// Settles after the other work that is already waiting on the event loop, so that its frames share a write.
    final func writeSoon() {
        guard !isWriteScheduled, let context else { return }
        isWriteScheduled = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.writeNow() }
    }

    /// Completes a batch: writes, and sets the timer.
    final func writeNow() {
        isWriteScheduled = false
        guard let context, !isEnded else { return }
        _ = beforeWrite()
        // The write may free streams, because an outgoing RST_STREAM closes its stream.
        repeat { flush(context) } while !isEnded && beforeWrite()
        guard !isEnded else { return }
        if stage != .handshaking, nghttp2_session_want_read(pointer) == 0, nghttp2_session_want_write(pointer) == 0 {
            return end("the last request was answered")
        }
        arm()
    }

    /// Writes the session's output, one write for a batch, because every write costs a TLS record. While the channel is
    /// full, nothing is taken from nghttp2, so that nghttp2's own limits on unsent frames apply to a peer that sends
    /// requests but never reads.
    private func flush(_ context: ChannelHandlerContext) {
        guard stage != .handshaking, !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        while !isEnded, context.channel.isWritable {
            outbound.clear()
            while outbound.readableBytes < Self.chunkSize {
                var bytes: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(pointer, &bytes)
                if count < 0 { return end(Self.strerror(count)) }
                if count == 0 { break }
                outbound.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
            }
            guard outbound.readableBytes > 0 else { return }
            context.writeAndFlush(wrapOutboundOut(outbound), promise: nil)
        }
    }

    // MARK: Time

    /// Keeps one timer for the next sweep. A timer is replaced only by an earlier one, so a sweep may find nothing due.
    private func arm() {
        guard let context, !isEnded else { return }
        let next = nextSweep
        if let timer, timer.at <= next { return }
        timer?.task.cancel()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = (next, context.eventLoop.scheduleTask(deadline: next) { bound.value.tick() })
    }

    private func tick() {
        timer = nil
        guard let context, !isEnded else { return }
        sweep(now: context.eventLoop.now)
        writeNow()
    }

    // MARK: The end

    /// Ends the connection. Only the first call has an effect. The channel may close a moment later.
    final func end(_ reason: String, cause: (any Error)? = nil) {
        guard !isEnded else { return }
        let last = violation ?? reason
        let reason = drainReason.map { $0 == last ? last : "\($0); \(last)" } ?? last
        closeReason = reason
        timer?.task.cancel()
        timer = nil
        ended(last, cause: cause)
        closed.succeed(reason)
        context?.close(promise: nil)
    }

    // MARK: Frames

    final func submitSettings(_ settings: KeyValuePairs<nghttp2_settings_id, Int>) {
        let entries = settings.map { id, value in
            nghttp2_settings_entry(settings_id: Int32(bitPattern: id.rawValue), value: UInt32(clamping: value))
        }
        _ = nghttp2_submit_settings(pointer, 0, entries, entries.count)
    }

    /// Sends RST_STREAM. A closed stream is not affected.
    final func reset(_ stream: Int32, code: UInt32) { _ = nghttp2_submit_rst_stream(pointer, 0, stream, code) }

    /// Sends GOAWAY. The session ends after the streams of the peer up to `lastStream`.
    final func submitGoAway(code: UInt32, debugData: [UInt8], lastStream: Int32) {
        hasSentGoAway = true
        _ = nghttp2_submit_goaway(pointer, 0, lastStream, code, debugData, debugData.count)
    }

    /// nghttp2's text for one of its errors.
    static func strerror(_ status: Int) -> String { String(cString: nghttp2_strerror(Int32(status))) }
}
