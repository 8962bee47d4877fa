/// RFC 3986 percent-encoding, for parts of paths and queries.
package enum PercentEncoding {
    /// `nil` for a broken escape or for bytes that are not UTF-8.
    package static func decode(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// `text` with everything but RFC 3986's unreserved characters escaped: safe as one segment of a path, and as a
    /// name or value of a query.
    package static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            if byte.isAlphanumeric || "-._~".utf8.contains(byte) { return String(UnicodeScalar(byte)) }
            return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    var isAlphanumeric: Bool { self < 0x80 && (Character(UnicodeScalar(self)).isLetter || hexValue != nil) }

    /// The value of a hexadecimal digit; `nil` for anything else.
    fileprivate var hexValue: UInt8? { Character(UnicodeScalar(self)).hexDigitValue.map { UInt8($0) } }
}
