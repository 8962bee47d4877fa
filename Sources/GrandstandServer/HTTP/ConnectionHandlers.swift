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

/// Passes on a connection's requests one at a time. The next request follows when the previous request is answered and
/// the client has read most of its answer. Without this rule, a client that sends many requests and reads nothing would
/// make the server hold many answers.
///
/// While requests wait here, nothing more is read from the connection.
final class RequestTurns: ExchangeHandler {
    private enum Waiting {
        case part(HTTPServerRequestPart)
        /// An error of the parser, to be passed on after the parts that were read before it.
        case fault(HTTPParserError)
        case inputClosed
    }

    private var waiting = CircularBuffer<Waiting>(initialCapacity: 0)
    private var isAnswering = false
    private var wantsRead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if waiting.isEmpty, mayPass(part, context) {
            pass(part, context)
        } else {
            waiting.append(.part(part))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !waiting.isEmpty, let fault = error as? HTTPParserError {
            waiting.append(.fault(fault))
        } else {
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if !waiting.isEmpty, event as? ChannelEvent == .inputClosed {
            waiting.append(.inputClosed)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.removeAll()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        context.fireChannelWritabilityChanged()
        resume(context)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd: Bool
        if case .end = unwrapOutboundIn(data) { isEnd = true } else { isEnd = false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        isAnswering = false
        resume(context)
    }

    func read(context: ChannelHandlerContext) {
        if waiting.isEmpty {
            context.read()
        } else {
            wantsRead = true
        }
    }

    private func mayPass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) -> Bool {
        guard case .head = part else { return true }
        return !isAnswering && context.channel.isWritable
    }

    private func pass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { isAnswering = true }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func resume(_ context: ChannelHandlerContext) {
        guard !waiting.isEmpty else { return }
        var hasPassed = false
        passing: while let next = waiting.first {
            switch next {
            case .part(let part):
                guard mayPass(part, context) else { break passing }
                waiting.removeFirst()
                pass(part, context)
            case .fault(let fault):
                waiting.removeFirst()
                context.fireErrorCaught(fault)
            case .inputClosed:
                waiting.removeFirst()
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
            hasPassed = true
        }
        if hasPassed { context.fireChannelReadComplete() }
        if waiting.isEmpty, wantsRead {
            wantsRead = false
            context.read()
        }
    }
}

/// Explains the refusal of a request that reaches no route: the HTTP parser does not know its method, or it has not
/// exactly one valid `Host` (RFC 9112, 3.2; HTTP/1.0 needs none). For an error of the parser, Hummingbird answers 400 without
/// a body. This handler replaces that answer with a problem.
final class HeadRefusals: ExchangeHandler {
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
        let body = JSONWriter.text(problem.body)
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
