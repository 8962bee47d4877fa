/// Chooses which of an event's audiences in one app and environment an installation gets. The first choice is the
/// variant that the installation names. The second is the best match for its language, and the third is the audience
/// without a variant. A pure function that the server and the app library share.
package struct VariantChoice: Sendable, Hashable {
    private let variants: [String?]
    private let byLanguage: LocaleLookup<String>

    /// - Parameter variants: the variants of the audiences in declared order; `nil` for an audience without a variant.
    package init(_ variants: [String?]) {
        self.variants = variants
        let tags = variants.compactMap(\.self).filter(Self.isLanguageTag)
        byLanguage = LocaleLookup(Dictionary(tags.map { ($0, $0) }) { first, _ in first })
    }

    /// - Parameters:
    ///   - named: the variant that the installation asks for. Unknown names are ignored.
    ///   - locale: the installation's language, BCP 47.
    /// - Returns: the index among the variants; `nil` only if there are no variants. If nothing matches and every
    ///   audience has a variant, the first audience is chosen.
    package func index(named: String?, locale: String?) -> Int? {
        guard variants.count > 1 else { return variants.isEmpty ? nil : 0 }
        if let named, let index = variants.firstIndex(of: named) { return index }
        if let match = locale.flatMap(byLanguage.value) { return variants.firstIndex(of: match) }
        return variants.firstIndex(of: nil) ?? 0
    }

    /// Whether a name can be a tag of BCP 47: a language of two or three letters, then subtags of up to eight letters
    /// and digits. `home` is not a tag. `pro` could be one (Old Provençal); it matches only installations with that
    /// language.
    static func isLanguageTag(_ name: String) -> Bool {
        let subtags = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard let language = subtags.first, (2...3).contains(language.count) else { return false }
        return language.utf8.allSatisfy(isLetter)
            && subtags.dropFirst().allSatisfy { subtag in
                (1...8).contains(subtag.count)
                    && subtag.utf8.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
