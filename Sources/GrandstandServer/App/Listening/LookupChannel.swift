internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connection with Grandstand's handlers directly behind the parser: one for requests that
/// reach no route, one for lookups, and one that passes on one request at a time.
struct LookupChannel: ServerChildChannel {
    let base: HTTP1Channel
    let lookups: LookupResponder?
    let headers: StandingHeaders

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { [lookups, headers] value in
            let pipeline = value.channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestTurns(), position: .after(parser))
            if let lookups { try pipeline.addHandler(LookupHandler(lookups: lookups), position: .after(parser)) }
            try pipeline.addHandler(HeadRefusals(headers: headers), position: .after(parser))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
