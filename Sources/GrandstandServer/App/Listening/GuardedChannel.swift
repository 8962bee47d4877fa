internal import HTTP2
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// A connection with time limits for its peer, and with TLS if there are certificates. Each new connection uses the
/// newest certificates.
struct GuardedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let limits: ConnectionDeadlines.Limits
    let certificates: TLSCertificates?
    /// Chooses the connections to close when there are too many, or too many unread answers; `nil`: none is closed.
    let shares: ConnectionShares?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        shares?.open(channel)
        return channel.eventLoop.makeCompletedFuture {
            // The receive buffers are small, because each of thousands of connections may fill a few buffers before
            // they are processed.
            try channel.syncOptions?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 16_384))
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ConnectionGuard(limits, shares))
            if let certificates {
                try pipeline.addHandler(TLSHandler(certificates.current))
            }
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let connection = try pipeline.handler(type: ConnectionGuard.self)
            try pipeline.addHandler(RequestProgress(connection), position: .after(decoder))
            return value
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
