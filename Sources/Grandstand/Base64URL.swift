internal import FoundationEssentials

/// RFC 4648 section 5, without padding: what JSON Web Tokens and secrets in URLs are written in.
package enum Base64URL {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(
            Data(bytes).base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }
}
