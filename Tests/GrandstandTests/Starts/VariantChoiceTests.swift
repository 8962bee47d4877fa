internal import Grandstand
internal import Testing

/// Which audience an installation gets, by its own variant or by its language.
struct VariantChoiceTests {
    /// The name of the chosen variant; `""`: the audience without a variant.
    private static func chosen(_ variants: [String], named: String? = nil, locale: String? = nil) -> String? {
        VariantChoice(variants.map { $0.isEmpty ? nil : $0 }).index(named: named, locale: locale).map { variants[$0] }
    }

    @Test func `an installation's own variant comes before its language`() {
        #expect(Self.chosen(["", "de", "home"], named: "home", locale: "de-AT") == "home")
    }

    @Test(arguments: [
        ("de-AT", "de"), ("de-Latn-CH", "de"), ("pt-BR", "pt-BR"), ("pt_BR", "pt-BR"), ("pt-PT", ""), ("EN", "en"),
        ("ho", ""),
    ])
    func `an installation without a variant gets its language's best match, or the audience without a variant`(
        locale: String, variant: String
    ) {
        #expect(Self.chosen(["home", "en", "", "de", "pt-BR"], locale: locale) == variant)
    }

    @Test func `a variant that is not a language tag matches no language`() {
        #expect(Self.chosen(["", "away"], locale: "away") == "")
        #expect(Self.chosen(["", "de.1"], locale: "de.1") == "")
    }

    @Test func `a variant that the event does not have is ignored`() {
        #expect(Self.chosen(["", "de"], named: "fr", locale: "de") == "de")
        #expect(Self.chosen(["", "de"], named: "fr") == "")
    }

    @Test func `without a match and without an audience that has no variant the first audience is chosen`() {
        #expect(Self.chosen(["home", "away"], locale: "de") == "home")
        #expect(Self.chosen([]) == nil)
    }
}
