internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandHTTP

/// How pages show words, numbers, times, commands and addresses.
struct ViewTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567"), (-1_000, "-1,000"),
    ])
    func `large numbers are written with separated thousands`(value: Int, text: String) {
        #expect(Wording.number(value) == text)
    }

    @Test func `counts are written with singular or plural, and states with the number of each`() {
        #expect(Wording.count(1, "channel") == "1 channel")
        #expect(Wording.count(2_000, "channel") == "2,000 channels")
        #expect(Wording.tally(["active", "failed", "active"]) == "2 active, 1 failed")
        #expect(Wording.tally([]) == "")
    }

    @Test func `times are in UTC, for people and machines`() {
        #expect(Moment(Samples.now).text == "2026-11-22 00:00 UTC")
        #expect(Moment(Samples.now, exact: true).text == "2026-11-22 00:00:00 UTC")
        #expect(Moment(Samples.now).iso == "2026-11-22T00:00:00.000Z")
        #expect(Moment(iso: "2026-11-22T01:00:00+01:00").text == "2026-11-22 00:00 UTC")
        #expect(Moment(iso: "soon").text == "soon")
    }

    @Test(arguments: [
        ("com.example.App", "com.example.App"), ("--apply", "--apply"), ("", "''"), ("a b", "'a b'"),
        ("O'Neill", #"'O'\''Neill'"#), ("$(rm)", "'$(rm)'"), ("a\u{1B}b", "'…'"), ("a\u{202E}b", "'…'"),
        ("'\u{301}x", "''\\''\u{301}x'"),
    ])
    func `words of a command are quoted so that the shell reads them unchanged`(word: String, quoted: String) {
        #expect(Array(Command.quoted(word).unicodeScalars) == Array(quoted.unicodeScalars))
    }

    @Test func `addresses are escaped, and links to other pages of a list keep its filters`() throws {
        let samples = try Samples()
        #expect(ConsolePath.event(try #require(EventKey(rawValue: "a:b"))) == "/console/events/a%3Ab")
        #expect(
            ConsolePath.channels(samples.app) == "/console/apps/com.example.Stadium/production/channels")
        #expect(ConsolePath.link("/console", [("a", "x&y"), ("b", nil)]) == "/console?a=x%26y")
        let first = Pager(samples.visit("/console/events"), query: [("kind", "a b")], nextCursor: "c=")
        #expect(first.start == nil && first.onward == "/console/events?kind=a%20b&cursor=c%3D" && first.isNeeded)
        let last = Pager(samples.visit("/console/events", query: "cursor=c"), query: [("kind", "x")], nextCursor: nil)
        #expect(last.start == "/console/events?kind=x" && last.onward == nil && last.isNeeded)
        #expect(!Pager(samples.visit(), nextCursor: nil).isNeeded)
    }

    @Test func `the navigation has only links to pages that the key's scopes allow`() throws {
        let samples = try Samples()
        let all = Visitor(key: samples.apiKey(), path: "/console/events/derby")
        #expect(all.links.map(\.label) == ["Overview", "Events", "Season", "Apps", "Webhooks", "Keys", "Audit log"])
        #expect(all.links.filter(\.isCurrent).map(\.label) == ["Events"])
        let organiser = Visitor(key: samples.apiKey([.organise]), path: "/console")
        #expect(organiser.links.map(\.label) == ["Events", "Season", "Webhooks"])
        #expect(Visitor(key: samples.apiKey([.lookup], bound: true), path: "/").boundTo == "com.example.Stadium")
    }
}
