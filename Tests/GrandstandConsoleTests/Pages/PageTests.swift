internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandConsole

/// What pages say of the values they are made from.
struct PageTests {
    @Test func `the overview shows the fullest app first, with its bar`() throws {
        let samples = try Samples()
        let calm = Quota(
            bundleID: try #require(BundleID(rawValue: "a.first")), environment: .development, limit: 100, byState: [:],
            byStoragePolicy: [:], forecast: Forecast(peak: 0, peakAt: Samples.now, exceedsAt: nil))
        let page = samples.overview([calm, samples.quota()])
        #expect(page.quotas.map(\.bundleID) == ["com.example.Stadium", "a.first"])
        let full = page.quotas[0]
        #expect(full.takenText == "9,610 of 9,997")
        #expect(full.taken == 9_610 && full.barMaximum == 9_997 && full.barHigh == 7_997 && full.barCritical == 9_497)
        #expect(full.level == "critical" && full.listed == "9,603 channels")
        #expect(page.quotas[1].listed == "not read yet" && page.quotas[1].exceedsAt == nil)
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

    @Test func `a bar without a single place is still a bar`() throws {
        let none = QuotaRow(try Samples().quota([:], limit: 0))
        #expect(none.barMaximum == 1 && none.takenText == "0 of 0")
    }

    @Test func `an app says which key file is not there`() throws {
        let samples = try Samples()
        let page = AppDetail(samples.registered(), keyFiles: [.development: .ok], quirks: [], samples.visit())
        #expect(page.environments.map(\.keyFile) == ["ok", "missing"])
        #expect(page.environments[1].advice?.contains("AuthKey_KEY1234567.p8") == true)
        #expect(page.environments[0].advice == nil)
    }

    @Test func `a report is read as it was kept`() throws {
        let samples = try Samples()
        let page = ReconciliationDetail(try ReconciliationReading(try samples.report()), samples.app)
        #expect(page.missing.rows.map(\.event) == ["derby"])
        #expect(page.unmanaged.rows.first?.firstSeenAt?.text == "2026-11-22 00:00:00 UTC")
        #expect(page.actions.rows.map(\.action) == ["mark-missing", "adopt"])
        #expect(page.actions.rows.map(\.outcome) == ["not done", "not done"])
        #expect(page.runs.map(\.label) == [Reconciling.look, .apply, .adopt, .deleteUnmanaged].map(\.label))
        #expect(page.actions.rows.allSatisfy { !$0.meaning.isEmpty && $0.meaning != $0.action })
        let done = try ReconciliationReading(try samples.report(applied: true, found: 0))
        #expect(ReconciliationDetail(done, samples.app).runs.map(\.label) == [Reconciling.look.label])
        let alarm = try ReconciliationReading(try samples.report(alarm: .capabilityOff))
        #expect(ReconciliationDetail(alarm, samples.app).runs.last?.label == Reconciling.recreate.label)
    }

    @Test func `a list has a report's counts, a long report's are in the report`() throws {
        let samples = try Samples()
        let reading = try ReconciliationReading(try samples.report())
        #expect(ReconciliationRow(reading, samples.app).missing == "1")
        let abridged = try ReconciliationReading(Array(#"{"id": "x", "apple": 7, "abridged": true}"#.utf8))
        let row = ReconciliationRow(abridged, samples.app)
        #expect(row.missing == "see the report" && row.apple == "7" && row.doing == "looked only")
        #expect(throws: Problem.self) { try ReconciliationReading(Array("{".utf8)) }
    }

    @Test func `a long list is cut, and says so`() {
        let all = Excerpt(Array(0..<1_500))
        #expect(all.rows.count == 200 && all.count == "1,500")
        #expect(all.remainder?.hasPrefix("1,300 more") == true)
        #expect(Excerpt([1]).remainder == nil)
    }

    @Test func `an entry of the log says what Apple said`() throws {
        var entry = try Samples().entry()
        #expect(AuditRow(entry).apple == "400 Derby")
        entry.answer = APNsRecord(status: nil, reason: "no answer within 5 s", requestID: nil)
        #expect(AuditRow(entry).apple == "no answer: no answer within 5 s")
        entry.answer = nil
        #expect(AuditRow(entry).apple == "")
    }
}
