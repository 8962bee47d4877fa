internal import NIOCore

/// Moves bytes between a session and its channel.
///
/// Output is collected in one buffer and flushed once per batch, because every write costs a TLS record.
/// While the channel is full, nothing is taken from nghttp2, so that nghttp2's own limits on unsent frames apply to a
/// peer that sends requests but never reads.
///
/// A flush may close the channel, and the close calls this object again before the flush returns. Swift does not allow
/// such overlapping calls of a struct that changes itself, so this type is a class.
final class SessionDriver {
    /// The bytes of one write: a few full TLS records.
    private static let chunk = 64 << 10

    private(set) var session: Session?
    private var outbound = ByteBuffer()
    private var isFlushing = false

    func start(_ session: Session) { self.session = session }

    /// Releases the session. The C session is freed as soon as no call into it is in progress.
    func stop() { session = nil }

    func receive(_ bytes: ByteBuffer) throws(SessionError) {
        guard let session else { return }
        let result = bytes.withUnsafeReadableBytes { bytes in
            Result { () throws(SessionError) in try session.receive(bytes) }
        }
        try result.get()
    }

    /// Writes the session's output, as far as the channel accepts it now.
    func flush(_ context: ChannelHandlerContext) throws(SessionError) {
        guard !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        while let session, context.channel.isWritable {
            outbound.clear()
            while outbound.readableBytes < Self.chunk, let bytes = try session.nextOutput() {
                outbound.writeBytes(bytes)
            }
            guard outbound.readableBytes > 0 else { return }
            context.writeAndFlush(NIOAny(outbound), promise: nil)
        }
    }

    /// Whether the session has nothing more to read or write.
    var isFinished: Bool { session?.isFinished ?? true }
}
