internal import GrandstandContract

/// The name that distinguishes the audiences of one app and environment: a language, home or away. An audience may have
/// none.
package struct Variant: RawRepresentable, Decodable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// `nil` for text that openapi.yaml does not allow.
    package init?(rawValue: String) {
        guard TextRule.variant.accepts(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The rule for names as a sentence, for error messages.
    package static let rule = TextRule.variant.sentence

    package var description: String { rawValue }

    /// Refuses variants that no audience of the event has.
    ///
    /// - Parameters:
    ///   - names: the names in `byVariant`.
    ///   - ids: all audiences of the event, including those that have ended.
    /// - Throws: `invalid-request` with a list of the event's variants.
    package static func require(
        _ names: some Collection<String>, among ids: some Sequence<Audience.ID>
    ) throws(Problem) {
        guard !names.isEmpty else { return }
        let known = Set(ids.compactMap(\.variant?.rawValue))
        let unknown = names.filter { !known.contains($0) }.sorted()
        guard !unknown.isEmpty else { return }
        let words =
            known.isEmpty
            ? "no audience of it has a variant" : "it has \(known.sorted().joined(separator: ", "))"
        throw Problem(
            .invalidRequest, "The event does not have some of these variants.",
            errors: unknown.map {
                FieldError(pointer: "/byVariant/\($0)", detail: "The event has no variant \($0); \(words).")
            })
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
