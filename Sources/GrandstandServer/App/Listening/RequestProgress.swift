internal import NIOCore
internal import NIOHTTP1

/// Reports the progress of requests and answers to the connection's guard. It is directly after the parser.
final class RequestProgress: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard

    /// - Parameter connection: the guard of the same channel.
    init(_ connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: connection.note { $0.receivedHeader(at: $1) }
        case .body: break
        case .end: connection.note { $0.receivedEnd(at: $1) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { connection.note { $0.answered(at: $1) } }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output { connection.note { $0.finished(at: $1) } }
        context.close(mode: mode, promise: promise)
    }
}
