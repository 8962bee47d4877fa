internal import Grandstand
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// A handler between the parser and Hummingbird, which sees parsed requests and answers.
protocol ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler
where
    InboundIn == HTTPServerRequestPart, InboundOut == HTTPServerRequestPart, OutboundIn == HTTPServerResponsePart,
    OutboundOut == HTTPServerResponsePart
{}

/// Explains the refusal of a request that reaches no route: the HTTP parser does not know its method, or it has not
/// exactly one valid `Host` (RFC 9112, 3.2; HTTP/1.0 needs none). For an error of the parser, Hummingbird answers 400 without
/// a body. This handler replaces that answer with a problem.
final class HeadRefusals: ExchangeHandler {
    private let commonHeaders: CommonHeaders
    /// Whether the rest of what the client sends is ignored, because Hummingbird ends the connection with the refusal.
    private var isRefused = false
    private var hasUnknownMethod = false

    init(headers: CommonHeaders) { commonHeaders = headers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(let head) = unwrapInboundIn(data), !Self.hasValidHost(head) else {
            return context.fireChannelRead(data)
        }
        isRefused = true
        context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
    }

    private static func hasValidHost(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard head.version == .http1_1 else { return hosts.count < 2 }
        return hosts.count == 1 && !hosts[0].isEmpty && !hosts[0].contains(where: \.isWhitespace)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error as? HTTPParserError == .invalidMethod { (isRefused, hasUnknownMethod) = (true, true) }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A refusal with a body is the answer to an earlier request.
        guard isRefused, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headers["content-type"].isEmpty
        else {
            context.write(data, promise: promise)
            return
        }
        var problem = Problem(.invalidRequest, "A request has one header Host with a name.")
        problem.status = 400
        if hasUnknownMethod {
            problem = Problem(.methodNotAllowed, "No path has this method.")
            head.status = .methodNotAllowed
            head.headers.replaceOrAdd(name: "Allow", value: "GET, HEAD, POST, PUT, PATCH, DELETE")
        }
        let body = JSONWriter.text(problem.body)
        head.headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
        head.headers.replaceOrAdd(name: "Content-Type", value: "application/problem+json")
        head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
        for field in commonHeaders.fields { head.headers.replaceOrAdd(name: field.name.rawName, value: field.value) }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
}
