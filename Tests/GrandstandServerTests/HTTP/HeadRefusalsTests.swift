internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import Testing

@testable internal import GrandstandServer

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
