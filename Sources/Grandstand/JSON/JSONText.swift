/// Small conversions between Swift strings and JSON text.
package enum JSONText {
    /// RFC 6901: `/` between the parts, `~` and `/` inside them escaped.
    package static func pointer(_ parts: some Sequence<String>) -> String {
        parts.map { part in
            let escaped = part.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
            return "/" + escaped
        }.joined()
    }

    /// `text` as a JSON string, quotes included.
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(quoted: text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `text` as a JSON string: only what RFC 8259 demands is escaped.
    package static func append(quoted text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
            case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
            case 0x0A: bytes += Array("\\n".utf8)
            case 0x0D: bytes += Array("\\r".utf8)
            case 0x09: bytes += Array("\\t".utf8)
            case 0..<0x20:
                let hex = String(byte, radix: 16)
                bytes += Array("\\u00\(hex.count == 1 ? "0" : "")\(hex)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
