#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Base64 for URLs without padding (RFC 4648 section 5). JSON Web Tokens and secrets in URLs use it.
package enum Base64URL {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        // `replacing` needs iOS 16.
        let standard = Data(bytes).base64EncodedString().filter { $0 != "=" }
        return String(standard.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// The bytes that `text` encodes; `nil` for text that is not Base64URL.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") }) else { return nil }
        var standard = text.utf8.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard)).map(Array.init)
    }
}
