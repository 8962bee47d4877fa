internal import Grandstand
internal import Testing

/// Which audience an installation gets, by its own word or its language.
struct VariantChoiceTests {
    /// The chosen variant's name; `""`: the one without.
    private static func chosen(_ variants: [String], named: String? = nil, locale: String? = nil) -> String? {
        VariantChoice(variants.map { $0.isEmpty ? nil : $0 }).index(named: named, locale: locale).map { variants[$0] }
    }

    @Test func `an installation's own variant goes before its language`() {
        #expect(Self.chosen(["", "de", "home"], named: "home", locale: "de-AT") == "home")
    }

    @Test(arguments: [
        ("de-AT", "de"), ("de-Latn-CH", "de"), ("pt-BR", "pt-BR"), ("pt_BR", "pt-BR"), ("pt-PT", ""), ("EN", "en"),
        ("ho", ""),
    ])
    func `without one it gets the longest match of its language, else the audience without a variant`(
        locale: String, variant: String
    ) {
        #expect(Self.chosen(["home", "en", "", "de", "pt-BR"], locale: locale) == variant)
    }

    @Test func `a variant that is no tag of a language is nobody's language`() {
        #expect(Self.chosen(["", "away"], locale: "away") == "")
        #expect(Self.chosen(["", "de.1"], locale: "de.1") == "")
    }

    @Test func `a name that the event does not have counts as none`() {
        #expect(Self.chosen(["", "de"], named: "fr", locale: "de") == "de")
        #expect(Self.chosen(["", "de"], named: "fr") == "")
    }

    @Test func `without a match and without an audience that has no variant it is the first`() {
        #expect(Self.chosen(["home", "away"], locale: "de") == "home")
        #expect(Self.chosen([]) == nil)
    }
}
