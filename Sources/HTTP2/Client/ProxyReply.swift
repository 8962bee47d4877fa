/// A proxy's answer to CONNECT, read until the end of its header. The bytes after the header come from the server.
struct ProxyReply {
    enum Verdict: Equatable {
        case incomplete
        /// 2xx: the next bytes come from the server.
        case open
        /// Any other status, with the status line.
        case refused(status: Int, line: String)
        /// The answer is not HTTP, its header is longer than `limit`, or bytes follow the header.
        case nonsense
    }

    /// The most bytes of a header.
    static let limit = 16 << 10

    private var bytes: [UInt8] = []

    /// Reads more bytes. A verdict other than `incomplete` is final.
    mutating func read(_ more: some Sequence<UInt8>) -> Verdict {
        bytes.append(contentsOf: more)
        guard bytes.starts(with: "HTTP/1.".utf8.prefix(bytes.count)) else { return .nonsense }
        guard let end = headerEnd else { return bytes.count > Self.limit ? .nonsense : .incomplete }
        // A TLS server never sends first, so there must be no bytes after the header.
        guard end == bytes.count else { return .nonsense }
        let line = String(
            decoding: bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]) else { return .nonsense }
        return (200..<300).contains(status) ? .open : .refused(status: status, line: String(line.prefix(200)))
    }

    /// The index after the empty line. Line ends may lack CR (RFC 9112 2.2).
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
