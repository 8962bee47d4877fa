/// Finds the text for a person's language: the lookup of RFC 4647, section 3.4. `de-Latn-AT` is served by `de-Latn-AT`,
/// `de-Latn` or `de`, the longest first; case does not matter, `_` counts as `-`.
package struct LocaleLookup<Value: Sendable>: Sendable {
    private let byTag: [String: Value]

    package init(_ values: [String: Value]) {
        byTag = Dictionary(values.map { (Self.canonical($0.key), $0.value) }) { first, _ in first }
    }

    /// - Returns: `nil`: nothing was written for that language.
    package func value(for locale: String) -> Value? {
        guard !byTag.isEmpty else { return nil }
        var subtags = Self.canonical(locale).split(separator: "-", omittingEmptySubsequences: false)
        while !subtags.isEmpty {
            if let value = byTag[subtags.joined(separator: "-")] { return value }
            subtags.removeLast()
            // A subtag of one letter or digit only introduces the subtags after it. It has no meaning alone, so it is
            // removed with them.
            if subtags.last?.count == 1 { subtags.removeLast() }
        }
        return nil
    }

    private static func canonical(_ tag: String) -> String {
        String(tag.lowercased().map { $0 == "_" ? "-" : $0 })
    }
}

extension LocaleLookup: Equatable where Value: Equatable {}
extension LocaleLookup: Hashable where Value: Hashable {}
