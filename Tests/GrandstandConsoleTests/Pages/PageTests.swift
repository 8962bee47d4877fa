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
        #expect(page.figures.map(\.level) == ["ok", "warning", "critical"])
    }

    @Test func `a bar without a single place is still a bar`() throws {
        let none = QuotaRow(try Samples().quota([:], limit: 0))
        #expect(none.barMaximum == 1 && none.takenText == "0 of 0")
    }

    @Test func `an event lists what did not get through, and offers what can be done`() throws {
        let samples = try Samples()
        let waiting = samples.broadcast([samples.delivery(.waiting, attempts: 0)])
        let failed = samples.broadcast([
            samples.delivery(.accepted), samples.delivery(.rejected, reason: "BadPriority"),
            samples.delivery(.expired, reason: nil, attempts: 0), samples.delivery(.superseded),
        ])
        let page = EventDetail(samples.event(), Page(items: [waiting, failed], nextCursor: nil), samples.visit())
        #expect(page.failures.map(\.state) == ["rejected", "expired"])
        #expect(page.broadcasts.map(\.counts) == ["1 waiting", "1 accepted, 1 superseded, 1 expired, 1 rejected"])
        #expect(page.refresh == 5)
        #expect(page.commands.last == .withdraw("11111111-2222-4333-8444-555555555555"))
        #expect(page.audiences[1].advice == Advice.capability)
        let older = EventDetail(
            samples.event(), Page(items: [failed], nextCursor: nil), samples.visit(query: "cursor=x"))
        #expect(older.refresh == nil)
        #expect(!older.commands.contains { $0.line.contains("broadcast cancel") })
        let over = EventDetail(samples.event(.ended), Page(items: [failed], nextCursor: nil), samples.visit())
        #expect(over.refresh == nil && over.commands.map(\.line) == ["grandstand event reopen derby"])
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
        #expect(page.commands.count == 4)
        let done = try ReconciliationReading(try samples.report(applied: true, found: 0))
        #expect(ReconciliationDetail(done, samples.app).commands == [.reconcile(samples.app, .look)])
        let alarm = try ReconciliationReading(try samples.report(alarm: .capabilityOff))
        #expect(ReconciliationDetail(alarm, samples.app).commands.last == .reconcile(samples.app, .recreate))
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
