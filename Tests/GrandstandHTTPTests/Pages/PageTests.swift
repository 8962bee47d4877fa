internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// Pages made from given values.
struct PageTests {
    @Test func `the overview shows the fullest app first, with its bar`() throws {
        let samples = try Samples()
        let calm = Quota(
            bundleID: try #require(BundleID(rawValue: "a.first")), environment: .development, limit: 100, byState: [:],
            byStoragePolicy: [:], forecast: Forecast(peak: 0, peakAt: Samples.now, exceedsAt: nil))
        let page = samples.overview([calm, samples.quota()])
        #expect(page.quotas.texts("App") == ["com.example.Stadium", "a.first"])
        #expect(page.quotas.texts("Taken") == ["9,610 of 9,997", "0 of 100"])
        #expect(page.quotas.texts("Level") == ["critical", "ok"])
        #expect(page.quotas.texts("Apple's list") == ["9,603 channels, 2026-11-22 00:00 UTC", "not read yet"])
        #expect(page.quotas.texts("Limit exceeded").last == "not foreseen")
        // The forecast exceeds the limit. The line that marks the limit is still within the bar.
        let bar = samples.quota().bar
        #expect(bar.parts.map(\.kind) == ["critical", "foreseen"] && bar.parts.map(\.x) == [0, 942])
        #expect(bar.limitX == 980)
        #expect(page.attentions.allSatisfy { $0.subject == "com.example.Stadium, production" })
        #expect(samples.overview([]).mayRegister)
        // A number that is neither good nor bad is not green.
        #expect(page.figures.map(\.level) == ["", "warning", "critical"])
        let activity = ConsoleActivity(
            messages: 0, oldestWaiting: nil,
            apple: [
                .init(environment: .production, word: "not asked yet", detail: nil, isFine: nil),
                .init(environment: .development, word: "reachable", detail: nil, isFine: true),
            ])
        #expect(Figure.all(activity, now: Samples.now).map(\.level) == ["", "ok", "", "ok"])
    }

    @Test func `a quota bar with a limit of 0 is still drawn`() throws {
        let none = try Samples().quota([:], limit: 0).bar
        #expect(none.parts.map(\.kind) == ["foreseen"] && none.limitX == 0 && none.barText == "0 of 0")
        #expect(Bar([(kind: "ok", count: 0)], of: 0, text: "0 of 0").parts.isEmpty)
        // One channel of 10,000 places is still visible in the bar.
        #expect(Bar([(kind: "ok", count: 1)], of: 10_000, text: "").parts.map(\.width) == [3])
    }

    @Test func `an app's page names the missing key file`() throws {
        let samples = try Samples()
        let page = AppDetail(
            samples.registered(), keyFiles: [.development: .ok], contents: [], quirks: [], samples.visit())
        let files = page.credentials.texts("Key file")
        #expect(files[0] == "ok" && files[1].hasPrefix("warning missing Put AuthKey_KEY1234567.p8"))
        let refusal = KeyRefusal(reason: .invalidProviderToken, since: Samples.now)
        let refused = AppDetail(
            samples.registered(), keyFiles: [.production: .refused(refusal)], contents: [], quirks: [], samples.visit())
        let text = try #require(refused.credentials.texts("Key file").last)
        #expect(
            text.hasPrefix("critical refused: InvalidProviderToken since 2026-11-22 00:00 UTC Check that"), "\(text)"
        )
    }

    @Test func `an app's page shows its content types`() throws {
        let samples = try Samples()
        let page = AppDetail(
            samples.registered(), keyFiles: [:], contents: [try samples.contentType()], quirks: [], samples.visit())
        #expect(page.contents.texts("Type") == ["MatchAttributes"])
        #expect(page.contents.texts("Versions") == ["3.1, Derby"])
        #expect(page.contents.texts("Content that a version cannot decode") == ["is refused"])
        #expect(page.contents.texts("Stamp") == ["/at unix"])
        #expect(page.contents.texts("Quiet") == ["/clock at most once in 30 seconds"])
        #expect(page.contents.texts("Rules that ring") == ["1"])
    }

    @Test func `a reconciliation report is shown as it was stored`() throws {
        let samples = try Samples()
        let page = ReconciliationDetail(try ReconciliationReading(try samples.report()), samples.app)
        #expect(page.missing.texts("Event") == ["derby"])
        #expect(page.unmanaged.texts("First seen") == ["2026-11-22 00:00 UTC"])
        #expect(page.plan.texts("Action") == ["mark-missing", "adopt"])
        #expect(page.plan.texts("Outcome") == ["not done", "not done"])
        #expect(page.runs.map(\.label) == [Reconciling.look, .apply, .adopt, .deleteUnmanaged].map(\.label))
        #expect(page.plan.texts("Why").first?.hasPrefix("Apple no longer has this channel") == true)
        let done = try ReconciliationReading(try samples.report(applied: true, found: 0))
        #expect(ReconciliationDetail(done, samples.app).runs.map(\.label) == [Reconciling.look.label])
        let alarm = try ReconciliationReading(try samples.report(alarm: .capabilityOff))
        #expect(ReconciliationDetail(alarm, samples.app).runs.last?.label == Reconciling.recreate.label)
    }

    @Test func `the list of reconciliations shows each report's counts, or refers to a long report`() throws {
        let samples = try Samples()
        let reading = try ReconciliationReading(try samples.report())
        let abridged = try ReconciliationReading(Array(#"{"id": "x", "apple": 7, "abridged": true}"#.utf8))
        let table = ReconciliationList.table([reading, abridged], samples.app)
        #expect(table.texts("Missing") == ["1", "see the report"])
        #expect(table.texts("Apple's list") == ["2", "7"] && table.texts("Did").last == "looked only")
        #expect(throws: Problem.self) { try ReconciliationReading(Array("{".utf8)) }
    }

    @Test func `a long list is cut with a note, and numbers and their heading are aligned right`() {
        let all = Table("Numbers", Array(0..<1_500), [Column("Name") { [.words("\($0)")] }, .number("Size") { $0 }])
        #expect(all.rows.count == 200 && all.count == "1,500")
        #expect(all.remainder?.hasPrefix("1,300 more") == true)
        #expect(all.headings.map(\.isNumber) == [false, true])
        #expect(
            all.rows[0].cells.map(\.isNumber) == [false, true] && all.rows[0].cells.map(\.isHead) == [true, false])
        #expect(Table("One", [1], [.number("Size") { $0 }]).remainder == nil)
    }

    @Test func `an audit entry shows Apple's answer`() throws {
        var entries = [AuditEntry](repeating: try Samples().entry(), count: 3)
        entries[1].answer = APNsRecord(status: nil, reason: "no answer within 5 s", requestID: nil)
        entries[2].answer = nil
        let page = AuditTrail(Page(items: entries, nextCursor: nil), AuditFilter(), try Samples().visit())
        #expect(page.entries.texts("Apple") == ["400 Derby", "no answer: no answer within 5 s", ""])
    }
}
