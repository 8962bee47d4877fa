internal import APNsWire
internal import Foundation
internal import Grandstand
internal import PortFakes

@testable internal import GrandstandConsole

extension Samples {
    /// Every page there is, with something in each of its lists.
    func pages() throws -> [any ConsolePage] {
        let reading = try ReconciliationReading(try report())
        let alarmed = try ReconciliationReading(try report(alarm: .capabilityOff, found: 201))
        return [
            SignIn(returningTo: "/console/events?state=live", fault: text),
            ProblemPage(Problem(.forbidden, text), requestID: "1a2b"),
            RefusedForm(
                FormFault(status: 422, title: text, detail: text, faults: [.init(pointer: text, detail: text)]),
                ActionRoute("/test", .admin, irreversible: true) { _ in throw Unasked() },
                FormFields([.init(name: text, value: text), .init(name: "long", value: text + "\n")]),
                path: "/console/test", back: "/console"),
            Overview([quota()]),
            EventList(
                Page(items: [event()], nextCursor: "next"), EventFilter(state: .live, kind: text, bundleID: bundleID),
                visit("/console/events", query: "cursor=x")),
            try match(),
            AppList(
                [AppRow(registered(), keyFiles: [.development: .ok])], nextCursor: "next", visit("/console/apps")),
            AppDetail(
                registered(), keyFiles: [.production: .unreadable],
                quirks: [
                    Quirk(
                        environment: .production, name: .managementPath, value: "lowercased", learnedAt: Self.now,
                        evidence: text, believedUntil: Self.now)
                ]),
            ChannelList(
                app, Page(items: [channel()], nextCursor: "next"), ChannelFilter(state: .failed, eventKey: key),
                visit("/console/apps/com.example.Stadium/production/channels")),
            ChannelList(
                app,
                unmanaged: Page(items: [UnmanagedChannel(channelID: text, firstSeenAt: Self.now)], nextCursor: nil),
                visit("/console/apps/com.example.Stadium/production/channels", query: "managed=false")),
            ReconciliationList(app, [reading, alarmed], nextCursor: "next", visit("/console")),
            ReconciliationDetail(reading, app), ReconciliationDetail(alarmed, app),
            AuditTrail(
                Page(items: [entry()], nextCursor: "next"), AuditFilter(actor: text, action: .keyCreated),
                visit("/console/audit-log", query: "from=2026-11-21")),
        ] + (try organisersPages())
    }

    /// What is around a page, with everything it may have.
    func frame(_ page: any ConsolePage, bound: Bool = true) -> Frame {
        let visitor = Visitor(key: apiKey(bound: bound), path: "/console/events/derby")
        let refresh = Refresh(
            seconds: page.refresh ?? 60, path: "/console/events", query: "state=live", isOff: false)
        return Frame(page: page, visitor: visitor, refresh: refresh, notice: text, now: Self.now)
    }
}
