internal import Mustache

/// Text as it stands in a page. Mustache's own escaping goes by characters, in which a quote followed by a combining
/// accent is no quote, though browsers, which go by scalars, see one there.
struct HTMLText: MustacheContentType {
    static let name = "CONSOLE"

    /// Markup is escaped; what would turn the text around it, or hide, is shown by its number.
    func escapeText(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default:
                if Self.isDeceptive(scalar) {
                    escaped += "[U+" + String(scalar.value, radix: 16, uppercase: true) + "]"
                } else {
                    escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }

    /// Control characters and the ones that override or isolate directions (Unicode TR9, 2.1 to 2.4).
    static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x2028, 0x2029, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
