internal import Grandstand

/// Turns texts into parts of keys and topics.
enum KeyText {
    /// Replaces Latin letters with marks by plain letters. Each run of other characters that keys cannot have becomes
    /// one `-`, except at the ends. `1. FC Köln` becomes `1.-FC-Koln`. A second call changes nothing.
    static func folded(_ text: String) -> String {
        var folded = ""
        var isGap = false
        for scalar in text.unicodeScalars {
            // Combining marks, which follow their letters.
            if (0x300...0x36F).contains(scalar.value) { continue }
            let part = isAllowed(scalar) ? String(scalar) : letters[scalar] ?? ""
            if part.isEmpty {
                isGap = true
                continue
            }
            if isGap, !folded.isEmpty { folded += "-" }
            isGap = false
            folded += part
        }
        return folded
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && EventKey(rawValue: String(scalar)) != nil
    }

    private static let letters: [Unicode.Scalar: String] = {
        let table: KeyValuePairs = [
            "ÀÁÂÃÄÅĀĂĄ": "A", "àáâãäåāăą": "a", "Æ": "AE", "æ": "ae", "ÇĆĈĊČ": "C", "çćĉċč": "c", "ÐĎĐ": "D",
            "ðďđ": "d",
            "ÈÉÊËĒĔĖĘĚ": "E", "èéêëēĕėęě": "e", "ĜĞĠĢ": "G", "ĝğġģ": "g", "ĤĦ": "H", "ĥħ": "h", "ÌÍÎÏĨĪĬĮİ": "I",
            "ìíîïĩīĭįı": "i", "Ĵ": "J", "ĵ": "j", "Ķ": "K", "ķ": "k", "ĹĻĽŁ": "L", "ĺļľł": "l", "ÑŃŅŇ": "N",
            "ñńņň": "n", "ÒÓÔÕÖØŌŎŐ": "O", "òóôõöøōŏő": "o", "Œ": "OE", "œ": "oe", "ŔŖŘ": "R", "ŕŗř": "r",
            "ŚŜŞŠȘ": "S", "śŝşšș": "s", "ß": "ss", "ŢŤȚ": "T", "ţťț": "t", "Þ": "Th", "þ": "th", "ÙÚÛÜŨŪŬŮŰŲ": "U",
            "ùúûüũūŭůűų": "u", "Ŵ": "W", "ŵ": "w", "ÝŶŸ": "Y", "ýÿŷ": "y", "ŹŻŽ": "Z", "źżž": "z",
        ]
        var letters: [Unicode.Scalar: String] = [:]
        for (scalars, letter) in table { for scalar in scalars.unicodeScalars { letters[scalar] = letter } }
        return letters
    }()
}
