#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A text that is never printed: an API key, an installation's secret, or the value of a header field. A value that
/// contains a `Secret` may be logged, described and dumped.
package struct Secret: RawRepresentable, Sendable, Hashable, Codable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(_ text: String) { rawValue = text }

    /// A new secret: 32 random bytes in base64url, as the API requires for an installation.
    package static func draw() -> Secret {
        var generator = SystemRandomNumberGenerator()
        let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        return Secret(
            String(
                bytes.base64EncodedString().compactMap { character -> Character? in
                    switch character {
                    case "+": "-"
                    case "/": "_"
                    case "=": nil
                    default: character
                    }
                }))
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
