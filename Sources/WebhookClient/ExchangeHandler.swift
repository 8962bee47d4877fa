internal import FoundationEssentials
internal import Grandstand
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Writes the request once the connection is there and reads the answer's head; of the body no more than a limit.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: Exchange
    private var received = 0

    /// Bytes of an answer's body that are read, politely, before the connection is closed.
    private static let longestBody = 64 * 1024

    init(_ exchange: Exchange) { self.exchange = exchange }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(exchange.request.head)), promise: nil)
        if exchange.request.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(exchange.request.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // 1xx comes before the answer.
            guard head.status.code >= 200 else { return }
            exchange.note(
                .answered(status: Int(head.status.code), retryAfter: Self.retryAfter(head.headers, exchange.now())))
        case .body(let bytes):
            received += bytes.readableBytes
            if received > Self.longestBody { end(context, "the answer is too long") }
        case .end:
            end(context, "the answer had no head")
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context, ExchangeFailure.text(error)) }

    func channelInactive(context: ChannelHandlerContext) {
        exchange.settle(.unanswered("the connection was closed without an answer"))
        context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext, _ reason: String) {
        exchange.settle(.unanswered(reason))
        context.close(promise: nil)
    }

    /// RFC 9110 10.2.3: seconds, or a date.
    private static func retryAfter(_ headers: HTTPHeaders, _ now: Date) -> Int? {
        guard let text = headers.first(name: "retry-after") else { return nil }
        if let seconds = Int(text) { return max(0, seconds) }
        return HTTPDate.parse(text).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    }
}

/// Why an exchange failed, in words for the log of a webhook's owner.
enum ExchangeFailure {
    static func text(_ error: any Error) -> String {
        switch error {
        case let error as NIOSSLError:
            switch error {
            case .handshakeFailed:
                "TLS failed: the certificate is not trusted, is for another name, or the peer refused"
            case .uncleanShutdown: "the connection was cut"
            default: "TLS failed: \(error)"
            }
        case is NIOSSLExtraError: "TLS failed: the certificate is for another name"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: "no connection in time"
        case is HTTPParserError: "the answer is no HTTP"
        default: "\(error)"
        }
    }
}
