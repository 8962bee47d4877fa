internal import Mustache

/// Escapes text for HTML. Mustache's own escaping compares Swift characters. To Swift, a quote followed by a combining
/// accent is one character, so Mustache does not escape the quote. But browsers read Unicode scalars and see a quote.
struct HTMLText: MustacheContentType {
    static let name = "CONSOLE"

    /// Escapes markup. Characters that are invisible or change the direction of the text are shown by their numbers.
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

    /// Control characters except tab and line feed, separators of lines and paragraphs, invisible characters such as
    /// U+200B, and characters that embed, override or isolate the text's direction (Unicode TR9, 2.1 to 2.4).
    static func isDeceptive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x2028, 0x2029, 0x202A...0x202E, 0x2060, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
