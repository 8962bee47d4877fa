internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1

/// A connection with handlers behind its parser, and a recorder where the router would be.
final class ParsedLine {
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        var passed: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): passed.append(head.uri)
            case .body: passed.append("body")
            case .end: passed.append("end")
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if let fault = error as? HTTPParserError { passed.append("\(fault)") }
        }
    }

    private let channel = EmbeddedChannel()
    private let recorder = Recorder()

    init(_ handler: some ChannelHandler) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(handler, position: .after(parser))
        try pipeline.addHandler(recorder)
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    /// The paths of requests, and what else was passed on.
    var passed: [String] { recorder.passed }
    /// The paths of the requests that were passed on.
    var paths: [String] { passed.filter { $0.hasPrefix("/") } }

    /// Sends bytes as a client, and returns what is answered at once.
    @discardableResult
    func says(_ text: String) throws -> String {
        try channel.writeInbound(ByteBuffer(string: text))
        return try answered()
    }

    /// Answers, in place of the router, one request that was passed on.
    @discardableResult
    func answers(_ status: HTTPResponseStatus = .noContent, _ headers: HTTPHeaders = [:]) throws -> String {
        try channel.writeOutbound(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        return try answered()
    }

    private func answered() throws -> String {
        var answer = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: buffer) }
        return answer
    }
}
