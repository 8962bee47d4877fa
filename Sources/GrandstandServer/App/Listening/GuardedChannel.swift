internal import Grandstand
internal import HTTP2
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connection, with TLS if there are certificates, and with Grandstand's handlers directly behind
/// the parser: one for the time limits of its peer, one for requests that reach no route, and one for lookups. NIO's own
/// then passes on one request at a time: a client that sends many does not make the server hold many answers. Each new
/// connection uses the newest certificates.
struct GuardedChannel: ServerChildChannel {
    let base: HTTP1Channel
    let timeout: Duration
    let certificates: TLSCertificates?
    /// Chooses the connections to close when there are too many, or too many unread answers; `nil`: none is closed.
    let limit: ConnectionLimit?
    let lookups: LookupResponder?

    func setup(channel: any NIOCore.Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        limit?.add(channel)
        return channel.eventLoop.makeCompletedFuture {
            // The receive buffers are small, because each of thousands of connections may fill a few buffers before
            // they are processed.
            try channel.syncOptions?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 16_384))
            if let certificates { try channel.pipeline.syncOperations.addHandler(TLSHandler(certificates.current)) }
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let limits = DeadlineGuard(timeout, limit)
            let lookups = lookups.map { LookupHandler(lookups: $0) { limits.note(.answered($0)) } }
            let handlers: [(any ChannelHandler)?] = [
                limits, HeadRefusals(headers: CommonHeaders(isSecure: certificates != nil)), lookups,
                HTTPServerPipelineHandler(),
            ]
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandlers(handlers.compactMap(\.self), position: .after(parser))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
