internal import Foundation
internal import Grandstand

/// Turns texts into parts of keys and topics.
enum KeyText {
    /// Replaces Latin letters with marks by plain letters. Each run of other characters that keys cannot have becomes
    /// one `-`, except at the ends. `1. FC Köln` becomes `1.-FC-Koln`. A second call changes nothing.
    static func folded(_ text: String) -> String {
        var folded = ""
        var isGap = false
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            // Marks, which follow their letters.
            if (0x300...0x36F).contains(scalar.value) { continue }
            let part = letters[scalar] ?? (isAllowed(scalar) ? String(scalar) : "")
            if isGap, !part.isEmpty, !folded.isEmpty { folded += "-" }
            isGap = part.isEmpty
            folded += part
        }
        return folded
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && EventKey(rawValue: String(scalar)) != nil
    }

    /// Letters that are not a plain letter with a mark.
    private static let letters: [Unicode.Scalar: String] = [
        "Æ": "AE", "æ": "ae", "Ð": "D", "ð": "d", "Đ": "D", "đ": "d", "Ħ": "H", "ħ": "h", "ı": "i", "Ł": "L", "ł": "l",
        "Ø": "O", "ø": "o", "Œ": "OE", "œ": "oe", "ß": "ss", "Ŧ": "T", "ŧ": "t", "Þ": "Th", "þ": "th",
    ]
}
