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
