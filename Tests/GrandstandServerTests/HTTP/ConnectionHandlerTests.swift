internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import Testing

@testable internal import GrandstandServer

/// When a connection's pipelined requests are passed on.
struct RequestTurnsTests {
    @Test func `the next request is passed on after the answer to the last`() throws {
        let line = try Turns()
        try line.asks("/1", "/2", "/3")
        #expect(line.passed == ["/1", "end"])
        try line.answers()
        #expect(line.passed == ["/1", "end", "/2", "end"])
        try line.answers()
        try line.answers()
        #expect(line.passed == ["/1", "end", "/2", "end", "/3", "end"])
        try line.asks("/4")
        #expect(line.passed.suffix(2) == ["/4", "end"])
    }

    @Test func `no request is passed on while the client does not read its answers`() throws {
        let line = try Turns()
        try line.asks("/1", "/2")
        line.isWritable = false
        try line.answers()
        #expect(line.passed == ["/1", "end"])
        line.isWritable = true
        #expect(line.passed == ["/1", "end", "/2", "end"])
        line.isWritable = false
        try line.answers()
        try line.asks("/3")
        #expect(line.passed.last != "/3" && line.passed.count == 4)
    }

    @Test func `the connection is not read while requests wait`() throws {
        let line = try Turns()
        line.read()
        #expect(line.reads == 1)
        try line.asks("/1", "/2")
        line.read()
        #expect(line.reads == 1)
        try line.answers()
        #expect(line.reads == 2)
    }

    @Test func `the rest of a request that is answered early is passed on before the next one`() throws {
        let line = try Turns()
        try line.receives([.head(Turns.head("/1"))])
        try line.answers()
        try line.receives([.body(ByteBuffer(string: "x")), .end(nil), .head(Turns.head("/2")), .end(nil)])
        #expect(line.passed == ["/1", "body", "end", "/2", "end"])
    }

    @Test func `a broken request and the end of the connection do not overtake requests that wait`() throws {
        let line = try Turns()
        try line.asks("/1", "/2")
        line.fails(.invalidMethod)
        line.closesInput()
        #expect(line.passed == ["/1", "end"])
        try line.answers()
        #expect(line.passed == ["/1", "end", "/2", "end", "invalidMethod", "inputClosed"])
    }
}

/// A connection behind the parser, with a recorder where the router would be.
private final class Turns {
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
            if let fault = error as? HTTPParserError, fault == .invalidMethod { passed.append("invalidMethod") }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event as? ChannelEvent == .inputClosed { passed.append("inputClosed") }
        }
    }

    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = HTTPServerResponsePart
        var count = 0
        func read(context: ChannelHandlerContext) { count += 1 }
    }

    private let channel = EmbeddedChannel()
    private let recorder = Recorder()
    private let outside = Reads()

    init() throws {
        try channel.pipeline.syncOperations.addHandlers([outside, RequestTurns(), recorder])
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    static func head(_ path: String) -> HTTPRequestHead { HTTPRequestHead(version: .http1_1, method: .GET, uri: path) }

    /// What was passed on.
    var passed: [String] { recorder.passed }
    /// How often bytes were asked for.
    var reads: Int { outside.count }

    var isWritable: Bool {
        get { channel.isWritable }
        set {
            channel.isWritable = newValue
            channel.pipeline.fireChannelWritabilityChanged()
        }
    }

    func asks(_ paths: String...) throws {
        try receives(paths.flatMap { [.head(Self.head($0)), .end(nil)] })
    }

    func receives(_ parts: [HTTPServerRequestPart]) throws { for part in parts { try channel.writeInbound(part) } }

    func read() { channel.pipeline.read() }

    func fails(_ fault: HTTPParserError) { channel.pipeline.fireErrorCaught(fault) }

    func closesInput() { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }

    func answers() throws {
        try channel.writeOutbound(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .noContent)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }
}

/// Requests that reach no route because of their heads.
struct HeadRefusalsTests {
    private static func line() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(HeadRefusals(headers: StandingHeaders(isSecure: false)), position: .after(parser))
        return channel
    }

    @Test(arguments: [
        ("", "0 times"), ("Host: a\r\nhost: b\r\n", "2 times"), ("Host:\r\n", "is empty"),
        ("Host: a b\r\n", "has a space"),
    ])
    func `an HTTP 1 1 request needs one Host, and gets 400 with the reason`(hosts: String, reason: String) throws {
        let channel = try Self.line()
        let request = ByteBuffer(string: "POST / HTTP/1.1\r\n\(hosts)Content-Length: 1\r\n\r\nx")
        #expect(throws: HTTPParserError.invalidHeaderToken) { try channel.writeInbound(request) }
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
        // Hummingbird's answer to an error of the parser.
        let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: ["Content-Length": "0"])
        try channel.writeOutbound(HTTPServerResponsePart.head(head))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        var answer = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: buffer) }
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        #expect(answer.contains(reason) && answer.contains(#""status":400"#), "\(answer)")
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test(arguments: ["0\r\n", "0\r\nHost: x\r\n", "1\r\nHost: x\r\n"])
    func `a request with one Host, and an HTTP 1 0 request without, are passed on`(rest: String) throws {
        let channel = try Self.line()
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.\(rest)\r\n"))
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) != nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
