internal import COpenSSL
package import NIOCore
internal import NIOTLS

/// TLS of one connection, by OpenSSL over buffers in memory. After the handshake it fires
/// `TLSUserEvent.handshakeCompleted`. Errors are `TLSError`, except those of the socket; after one, the connection is
/// closed. The handlers around it limit how long a peer may take.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum State { case handshaking, open, closing, closed }
    private typealias Write = (bytes: ByteBuffer, promise: EventLoopPromise<Void>?)

    /// How long a peer may delay the close with its own close_notify. Without the wait, the system may discard what the
    /// peer has not read yet.
    private static let closeTimeout = TimeAmount.seconds(1)
    /// The most bytes that are encrypted at a time, so that the buffer in memory stays small.
    private static let chunkSize = 64 << 10
    /// The bytes of a TLS record. Shorter writes of one flush share a record.
    private static let recordSize = 16 << 10

    let ssl: OpaquePointer
    /// `ssl` reads the list of protocols in it.
    private let tls: TLSContext
    /// Encrypted bytes from the peer, and for the peer. `ssl` owns both.
    private let received: OpaquePointer
    private let outgoing: OpaquePointer
    private var state = State.handshaking
    private var hasPeerClosed = false
    private var isOutputClosed = false
    private var writes = MarkedCircularBuffer<Write>(initialCapacity: 4)
    /// The write that OpenSSL could not take yet.
    private var unfinished: Write?
    private var closePromise: EventLoopPromise<Void>?
    private var closeTimer: Scheduled<Void>?

    /// - Parameter peer: for a client, the name or address that the certificate must have.
    package init(_ context: TLSContext, peer: String? = nil) throws(TLSError) {
        tls = context
        ssl = try context.makeSSL(for: peer)
        guard let received = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else { throw TLSError(nil) }
        (self.received, self.outgoing) = (received, outgoing)
        SSL_set_bio(ssl, received, outgoing)
    }

    deinit { SSL_free(ssl) }

    // MARK: Channel events

    package func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { shakeHands(context) } }

    package func handlerRemoved(context: ChannelHandlerContext) {
        state = .closed
        failWrites(ChannelError.ioOnClosedChannel)
        closeTimer?.cancel()
        closePromise?.succeed()
        closePromise = nil
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        shakeHands(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        let wasCut = (state == .open || state == .handshaking) && !hasPeerClosed
        state = .closed
        failWrites(ChannelError.ioOnClosedChannel)
        if wasCut { context.fireErrorCaught(TLSError.cut) }
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        // After close_notify the handlers above know already.
        if !hasPeerClosed { fail(context, TLSError.cut) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed, !hasPeerClosed else { return }
        let count = unwrapInboundIn(data).withUnsafeReadableBytes {
            $0.isEmpty ? 0 : Int(BIO_write(received, $0.baseAddress, Int32($0.count)))
        }
        guard count >= 0 else { return fail(context, TLSError.other("no memory")) }
        if state == .handshaking { shakeHands(context) }
        decrypt(context)
    }

    // MARK: The handshake

    private func shakeHands(_ context: ChannelHandlerContext) {
        guard state == .handshaking else { return }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        let error = result == 1 ? nil : failure(of: result)
        // Also an alert that says why the handshake failed.
        sendOutput(context)
        if let error { return fail(context, error) }
        guard result == 1, state == .handshaking else { return }
        state = .open
        var (name, count): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
        SSL_get0_alpn_selected(ssl, &name, &count)
        let chosen = name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
        context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: chosen))
        encrypt(context)
    }

    /// The error of a call that returned `result`; `nil`: it only needs more bytes.
    private func failure(of result: Int32) -> TLSError? {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE, SSL_ERROR_ZERO_RETURN: nil
        default: TLSError(ssl)
        }
    }

    // MARK: Bytes from the peer

    private func decrypt(_ context: ChannelHandlerContext) {
        while state == .open || state == .closing, !hasPeerClosed {
            var bytes = context.channel.allocator.buffer(
                capacity: min(Self.chunkSize, BIO_ctrl_pending(received) + 1_024))
            var result: Int32 = 1
            while result == 1, bytes.readableBytes < Self.chunkSize {
                bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: 1_024) { space in
                    ERR_clear_error()
                    var count = 0
                    result = SSL_read_ex(ssl, space.baseAddress, space.count, &count)
                    return result == 1 ? count : 0
                }
            }
            let error = result == 1 ? nil : failure(of: result)
            hasPeerClosed = SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0
            sendOutput(context)
            // While this side closes, nobody waits for bytes.
            if bytes.readableBytes > 0, state == .open { context.fireChannelRead(wrapInboundOut(bytes)) }
            if let error { return fail(context, error) }
            if result != 1 { break }
        }
        if hasPeerClosed { peerClosed(context) } else { encrypt(context) }
    }

    private func peerClosed(_ context: ChannelHandlerContext) {
        switch state {
        case .open:
            let mayHalfClose = (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) ?? false
            guard mayHalfClose, !isOutputClosed else { return close(context: context, mode: .all, promise: nil) }
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .closing: finishClosing(context)
        case .handshaking, .closed: break
        }
    }

    // MARK: Bytes for the peer

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .handshaking || state == .open, !isOutputClosed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        writes.append((unwrapOutboundIn(data), promise))
    }

    package func flush(context: ChannelHandlerContext) {
        writes.mark()
        encrypt(context)
    }

    /// Encrypts and sends what was flushed.
    private func encrypt(_ context: ChannelHandlerContext) {
        guard state == .open, unfinished != nil || writes.hasMark else { return }
        while unfinished != nil || writes.hasMark {
            var (bytes, promise) = unfinished ?? writes.removeFirst()
            unfinished = nil
            while writes.hasMark, bytes.readableBytes + writes[writes.startIndex].bytes.readableBytes <= Self.recordSize
            {
                var next = writes.removeFirst()
                bytes.writeBuffer(&next.bytes)
                promise = Self.merge(promise, next.promise)
            }
            while bytes.readableBytes > 0 {
                ERR_clear_error()
                var count = 0
                let result = bytes.withUnsafeReadableBytes {
                    SSL_write_ex(ssl, $0.baseAddress, min($0.count, Self.chunkSize), &count)
                }
                guard result == 1 else {
                    unfinished = (bytes, promise)
                    // Without an error, OpenSSL first needs bytes of the peer; `decrypt` then continues here.
                    if let error = failure(of: result) { fail(context, error) }
                    return context.flush()
                }
                bytes.moveReaderIndex(forwardBy: count)
                if bytes.readableBytes > 0, let part = takeBytes(context) {
                    context.write(wrapOutboundOut(part), promise: nil)
                }
            }
            context.write(wrapOutboundOut(takeBytes(context) ?? ByteBuffer()), promise: promise)
        }
        context.flush()
    }

    /// A promise that completes both.
    private static func merge(
        _ one: EventLoopPromise<Void>?, _ other: EventLoopPromise<Void>?
    ) -> EventLoopPromise<Void>? {
        guard let one, let other else { return one ?? other }
        one.futureResult.cascade(to: other)
        return one
    }

    /// Sends what OpenSSL itself has to say.
    private func sendOutput(_ context: ChannelHandlerContext) {
        if let bytes = takeBytes(context) { context.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
    }

    private func takeBytes(_ context: ChannelHandlerContext) -> ByteBuffer? {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return nil }
        var bytes = context.channel.allocator.buffer(capacity: count)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
            max(0, Int(BIO_read(outgoing, $0.baseAddress, Int32(count))))
        }
        return bytes
    }

    // MARK: The end

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input, state == .open || state == .closing else {
            if mode == .all { state = .closed }
            return context.close(mode: mode, promise: promise)
        }
        if state == .open, !isOutputClosed {
            writes.mark()
            encrypt(context)
            ERR_clear_error()
            SSL_shutdown(ssl)
            sendOutput(context)
            isOutputClosed = true
        }
        if mode == .output { return context.close(mode: .output, promise: promise) }
        state = .closing
        closePromise = Self.merge(promise, closePromise)
        if hasPeerClosed { return finishClosing(context) }
        guard closeTimer == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        closeTimer = context.eventLoop.scheduleTask(in: Self.closeTimeout) {
            bound.value.0.finishClosing(bound.value.1)
        }
    }

    private func finishClosing(_ context: ChannelHandlerContext) {
        guard state == .closing else { return }
        state = .closed
        closeTimer?.cancel()
        let promise = closePromise
        closePromise = nil
        context.close(promise: promise)
    }

    private func fail(_ context: ChannelHandlerContext, _ error: TLSError) {
        guard state != .closed else { return }
        let wasClosing = state == .closing
        if wasClosing { return finishClosing(context) }
        state = .closed
        failWrites(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func failWrites(_ error: any Error) {
        unfinished?.promise?.fail(error)
        unfinished = nil
        while let write = writes.popFirst() { write.promise?.fail(error) }
    }
}
