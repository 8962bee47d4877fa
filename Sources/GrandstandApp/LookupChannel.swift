internal import GrandstandAPI
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connection with the lookups' handler right behind the parser.
struct LookupChannel: ServerChildChannel {
    let base: HTTP1Channel
    let lookups: LookupResponder?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { [lookups] value in
            guard let lookups else { return value }
            let pipeline = value.channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(LookupHandler(lookups: lookups), position: .after(parser))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
