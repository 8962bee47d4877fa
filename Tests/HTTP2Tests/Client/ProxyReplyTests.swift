import Testing

@testable import HTTP2

struct ProxyReplyTests {
    private func verdict(_ text: String) -> ProxyReply.Verdict {
        var reply = ProxyReply()
        return reply.read(Array(text.utf8))
    }

    @Test(arguments: [
        "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nVia: x\r\n\r\n", "HTTP/1.1 204\n\n",
    ])
    func `a 2xx answer opens the connection`(text: String) { #expect(verdict(text) == .open) }

    @Test func `an answer that comes byte by byte is read like a whole one`() {
        var reply = ProxyReply()
        let text = Array("HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8)
        for byte in text.dropLast() { #expect(reply.read([byte]) == .incomplete) }
        #expect(reply.read(text.suffix(1)) == .open)
    }

    @Test func `a refusal keeps its status line`() {
        #expect(
            verdict("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                == .refused(status: 403, line: "HTTP/1.1 403 Forbidden"))
    }

    @Test(arguments: [
        "SSH-2.0-x\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nmore",
    ])
    func `anything else is not an answer of a proxy`(text: String) { #expect(verdict(text) == .nonsense) }

    @Test func `an endless header is not read forever`() {
        var reply = ProxyReply()
        #expect(reply.read("HTTP/1.1 200 OK\r\n".utf8) == .incomplete)
        let line = Array("X: \(String(repeating: "y", count: 1_000))\r\n".utf8)
        let verdicts = (0..<20).map { _ in reply.read(line) }
        #expect(verdicts.contains(.nonsense))
    }
}
