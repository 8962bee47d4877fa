/// A text that is never printed: an API key, an installation's secret, or the value of a header field. A value that
/// contains a `Secret` may be logged, described and dumped.
package struct Secret: RawRepresentable, Sendable, Hashable, Codable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(_ text: String) { rawValue = text }

    /// A new secret: 32 random bytes in base64url, as the API requires for an installation.
    package static func draw() -> Secret { Secret(Base64URL.text((0..<32).map { _ in .random(in: .min ... .max) })) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
