internal import Grandstand
internal import HTTPTypes
internal import JSON
package import NIOCore
package import NIOHTTP1

/// Explains the refusal of a request whose method the HTTP parser does not know. Such a request reaches no route, and
/// Hummingbird answers 400 without a body. This handler replaces that answer with a problem.
package final class UnknownMethodHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"

    private let standing: StandingHeaders
    private var isRefused = false

    package init(headers: StandingHeaders) { standing = headers }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error as? HTTPParserError == .invalidMethod { isRefused = true }
        context.fireErrorCaught(error)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isRefused, case .head(var head) = unwrapOutboundIn(data), head.status == .badRequest else {
            context.write(data, promise: promise)
            return
        }
        isRefused = false
        let body = JSONWriter.text(
            Contract.Problem(
                Problem(.methodNotAllowed, "This API does not know the method of the request. It has \(Self.methods)."))
        )
        head.status = .methodNotAllowed
        head.headers.replaceOrAdd(name: "Allow", value: Self.methods)
        head.headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
        head.headers.replaceOrAdd(name: "Content-Type", value: "application/problem+json")
        head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
        for field in standing.fields { head.headers.replaceOrAdd(name: field.name.rawName, value: field.value) }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
}
