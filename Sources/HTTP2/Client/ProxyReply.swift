/// A proxy's answer to CONNECT, read byte by byte until its header ends. What follows is the server's.
struct ProxyReply {
    enum Verdict: Equatable {
        case incomplete
        /// 2xx: from here on the bytes are those of the server.
        case open
        /// Any other status, with its line.
        case refused(status: Int, line: String)
        /// Not HTTP, or a header beyond `limit`.
        case nonsense
    }

    /// Bytes of a header that are read at most.
    static let limit = 16 << 10

    private var bytes: [UInt8] = []

    /// Takes what came; a verdict other than `incomplete` is the last.
    mutating func read(_ more: some Sequence<UInt8>) -> Verdict {
        bytes.append(contentsOf: more)
        guard bytes.starts(with: "HTTP/1.".utf8.prefix(bytes.count)) else { return .nonsense }
        guard let end = headerEnd else { return bytes.count > Self.limit ? .nonsense : .incomplete }
        // A server behind a proxy that lets TLS through never speaks first.
        guard end == bytes.count else { return .nonsense }
        let line = String(
            decoding: bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]) else { return .nonsense }
        return (200..<300).contains(status) ? .open : .refused(status: status, line: String(line.prefix(200)))
    }

    /// The end of the empty line; line ends may lack their CR (RFC 9112 2.2).
    private var headerEnd: Int? {
        var newlines = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                newlines += 1
                if newlines == 2 { return index + 1 }
            case UInt8(ascii: "\r"): break
            default: newlines = 0
            }
        }
        return nil
    }
}
