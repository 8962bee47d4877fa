internal import FoundationEssentials
internal import NIOCore

/// A page's bytes without the tokens of its forms. Each session has its own tokens; the rest of the page is made once
/// for many sessions.
struct RenderedPage: Sendable {
    /// The placeholder of a token. Nobody outside this process knows the placeholder, so no other text contains it.
    static let tokenPlace = "token-\(UUID().uuidString)"

    private let parts: [ArraySlice<UInt8>]

    init(_ html: String) {
        let bytes = Array(html.utf8)
        let place = Array(Self.tokenPlace.utf8)
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while let found = rest.firstRange(of: place) {
            parts.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        self.parts = parts + [rest]
    }

    func body(token: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        for (index, part) in parts.enumerated() {
            if index > 0 { buffer.writeString(token) }
            buffer.writeBytes(part)
        }
        return buffer
    }
}
