internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The limits on the new installations of an app, and on the tokens of one installation.
struct DeviceBoundsTests {
    /// Ten minutes before the end of an hour.
    private static let now = Date(timeIntervalSince1970: 3_600 * 500_000 - 600)

    @Test func `the number of new installations per hour is limited`() throws {
        try DeviceBounds.requireRoom(created: 4, mostNew: 5, at: Self.now)
        let refused = #expect(throws: Problem.self) {
            try DeviceBounds.requireRoom(created: 5, mostNew: 5, at: Self.now)
        }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 600 && refused?.limit == 5)
    }

    @Test func `an installation may bring thirty tokens at once, then one every three minutes`() throws {
        var until: Date?
        for _ in 0..<3 { until = try DeviceBounds.pace(10, until, at: Self.now) }
        let full = until
        let refused = #expect(throws: Problem.self) { try DeviceBounds.pace(1, full, at: Self.now) }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 180 && refused?.limit == 20)
        #expect(try DeviceBounds.pace(0, full, at: Self.now) == full)
        let later = Self.now.addingTimeInterval(180)
        let again = try DeviceBounds.pace(1, full, at: later)
        #expect(throws: Problem.self) { try DeviceBounds.pace(1, again, at: later) }
        #expect(try DeviceBounds.pace(30, again, at: Self.now.addingTimeInterval(86_400)) != nil)
    }
}

struct DeviceWordTests {
    @Test func `a token is written in lower case, and shown by its last six digits`() throws {
        let token = try #require(DeviceToken(bytes: [0x80, 0xAB, 0xCD, 0xEF, 0x01, 0x23]))
        #expect(token.hex == "80abcdef0123")
        #expect("\(token)" == "…ef0123")
    }

    @Test func `versions are read by their first two parts`() {
        #expect(["18.4.1", "17", "17.10"].map(SystemVersion.number) == [18_004, 17_000, 17_010])
    }
}

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
