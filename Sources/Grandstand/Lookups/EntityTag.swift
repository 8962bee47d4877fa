/// A strong entity tag (RFC 9110, 8.8.3): equal for equal bytes. A 64-bit FNV-1a hash is enough, because nobody gains
/// from a collision here.
package struct EntityTag: Sendable, Hashable {
    package let hash: UInt64

    package init(of bytes: some Sequence<UInt8>) {
        hash = FNV.hash(bytes)
    }

    /// The value of `ETag`, with its quotation marks.
    package var text: String { "\"" + String(hash, radix: 16) + "\"" }

    /// Whether an `If-None-Match` header includes the tag. A weak form matches, too, as RFC 9110 requires for this
    /// header.
    package func matches(_ header: String) -> Bool {
        let text = text
        return header == text
            || header.split(separator: ",").contains { candidate in
                let plain = candidate.drop { $0 == " " || $0 == "\t" || $0 == "W" || $0 == "/" }
                    .prefix { $0 != " " && $0 != "\t" }
                return plain == text || plain == "*"
            }
    }
}

/// FNV-1a, byte by byte.
enum FNV {
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
