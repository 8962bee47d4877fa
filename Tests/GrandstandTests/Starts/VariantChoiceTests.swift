internal import Grandstand
internal import Testing

/// Which audience an installation gets: that of its own variant, else the best match of its language, else the one
/// without a variant (`""`), else the first. A variant that is not a language tag matches no language.
struct VariantChoiceTests {
    private static let many = ["home", "en", "", "de", "pt-BR"]

    /// The event's variants, the installation's own variant, its language, and the variant of its audience.
    @Test(
        arguments: [
            (["", "de", "home"], "home", "de-AT", "home"), (many, nil, "de-AT", "de"), (many, nil, "de-Latn-CH", "de"),
            (many, nil, "pt-BR", "pt-BR"), (many, nil, "pt_BR", "pt-BR"), (many, nil, "pt-PT", ""),
            (many, nil, "EN", "en"), (many, nil, "ho", ""), (["", "away"], nil, "away", ""),
            (["", "de.1"], nil, "de.1", ""), (["", "de"], "fr", "de", "de"), (["", "de"], "fr", nil, ""),
            (["home", "away"], nil, "de", "home"), ([], nil, nil, nil),
        ] as [([String], String?, String?, String?)])
    func `an installation gets the audience of its variant, of its language, or without a variant`(
        variants: [String], named: String?, locale: String?, chosen: String?
    ) {
        let choice = VariantChoice(variants.map { $0.isEmpty ? nil : $0 })
        #expect(choice.index(named: named, locale: locale).map { variants[$0] } == chosen)
    }
}
