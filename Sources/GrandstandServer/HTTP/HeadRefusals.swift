internal import Grandstand
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import NIOHTTP1

/// Explains the refusal of a request that reaches no route: the HTTP parser does not know its method, or it has not
/// exactly one valid `Host` (RFC 9112, 3.2; HTTP/1.0 needs none). For an error of the parser, Hummingbird answers 400 without
/// a body. This handler replaces that answer with a problem.
final class HeadRefusals: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"

    private let standing: StandingHeaders
    private var refusal: Problem?
    /// Whether the rest of what the client sends is ignored, because Hummingbird ends the connection with the refusal.
    private var isLast = false

    init(headers: StandingHeaders) { standing = headers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isLast else { return }
        guard case .head(let head) = unwrapInboundIn(data), let fault = Self.fault(head) else {
            return context.fireChannelRead(data)
        }
        isLast = true
        refusal = fault
        context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
    }

    private static func fault(_ head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["host"]
        let isNamed = hosts.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) }
        guard hosts.count > 1 || head.version == .http1_1 && (hosts.isEmpty || !isNamed) else { return nil }
        var problem = Problem(
            .invalidRequest,
            hosts.count == 1
                ? "The header Host is empty or has a space."
                : "An HTTP/1.1 request has the header Host once; this one has it \(hosts.count) times.")
        problem.status = 400
        return problem
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error as? HTTPParserError == .invalidMethod {
            refusal = Problem(
                .methodNotAllowed, "This API does not know the method of the request. It has \(Self.methods).")
        }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let problem = refusal, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest else {
            context.write(data, promise: promise)
            return
        }
        refusal = nil
        let body = JSONWriter.text(Contract.Problem(problem))
        head.status = HTTPResponseStatus(statusCode: problem.status)
        if head.status == .methodNotAllowed { head.headers.replaceOrAdd(name: "Allow", value: Self.methods) }
        head.headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
        head.headers.replaceOrAdd(name: "Content-Type", value: "application/problem+json")
        head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
        for field in standing.fields { head.headers.replaceOrAdd(name: field.name.rawName, value: field.value) }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
}
