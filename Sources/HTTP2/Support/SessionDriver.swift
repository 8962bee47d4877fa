internal import NIOCore

/// Moves bytes between a session and its channel.
///
/// Output is gathered into one buffer and flushed once per batch: NIOSSL makes a TLS record of every write. While the
/// channel is full nothing is taken out of nghttp2, so that its own bounds on unsent frames hold against a peer that
/// asks and never reads.
///
/// A class, since a flush can end in the channel's close and so come back here.
final class SessionDriver {
    /// Bytes per write: a few full TLS records.
    private static let chunk = 64 << 10

    private(set) var session: Session?
    private var outbound = ByteBuffer()
    private var isFlushing = false

    func start(_ session: Session) { self.session = session }

    /// Lets go of the session; C's side is freed as soon as no call into it is under way.
    func stop() { session = nil }

    func receive(_ bytes: ByteBuffer) throws(SessionError) {
        guard let session else { return }
        let result = bytes.withUnsafeReadableBytes { bytes in
            Result { () throws(SessionError) in try session.receive(bytes) }
        }
        try result.get()
    }

    /// Writes what the session has to say, as far as the channel takes it now.
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

    /// The session is over by its own account.
    var isFinished: Bool { session?.isFinished ?? true }
}
