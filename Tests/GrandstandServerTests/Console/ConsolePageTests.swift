internal import APNsWire
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import GrandstandServer

/// Pages made from given values.
struct ConsolePageTests {
    @Test func `the overview shows an app that has channels with its bar`() throws {
        let samples = try Samples()
        let calm = Quota(
            bundleID: try #require(BundleID(rawValue: "a.first")), environment: .development, limit: 100, byState: [:],
            byStoragePolicy: [:], forecast: Forecast(peak: 0, peakAt: Samples.now, exceedsAt: nil))
        let page = samples.overview([calm, samples.quota()])
        #expect(page.quotas.texts("App") == ["com.example.Stadium"])
        #expect(page.quotas.texts("Taken") == ["9,610 of 9,997"])
        #expect(page.quotas.texts("Level") == ["critical"])
        // Where no channel is or will be, a name is enough.
        #expect(page.unused.map(\.label) == ["a.first, development"])
        // The forecast exceeds the limit. The line that marks the limit is still within the bar.
        let bar = samples.quota().bar
        #expect(bar.parts.map(\.kind) == ["critical", "foreseen"] && bar.parts.map(\.x) == [0, 942])
        #expect(bar.limitX == 980)
        // A bar with a limit of 0 is drawn, too.
        #expect(samples.quota([:], limit: 0).bar.limitX == 0)
    }

    @Test func `an app's page names the missing key file, and a refused key`() throws {
        let samples = try Samples()
        var app = samples.registered()
        app.credentialRefusals = ["production": .init(reason: "InvalidProviderToken", since: Samples.now)]
        for (state, text) in [(nil, "warning missing"), (Contract.CredentialState.refused, "critical refused")] {
            app.credentials["production"] = state
            let facts = Resource.apps.detail?.facts.facts(
                try JSONValue(decoding: JSONWriter.text(app)), samples.visit())
            let production = try #require(facts?.first { $0.name == "Credentials in production" })
            #expect(production.pieces.map(\.text).joined(separator: " ").contains(text))
        }
    }

    @Test func `a long list is cut with a note, and numbers and their heading are aligned right`() {
        let all = Table("Numbers", Array(0..<1_500), [Column("Name") { [.words("\($0)")] }, .number("Size") { $0 }])
        #expect(all.rows.count == 200)
        #expect(all.remainder?.hasPrefix("1,300 more") == true)
        #expect(all.headings.map(\.isNumber) == [false, true])
        #expect(
            all.rows[0].cells.map(\.isNumber) == [false, true] && all.rows[0].cells.map(\.isHead) == [true, false])
        #expect(Table("One", [1], [.number("Size") { $0 }]).remainder == nil)
    }
}
