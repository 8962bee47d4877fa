internal import APNsWire
internal import Foundation
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import Grandstand
@testable internal import GrandstandCommand
@testable internal import GrandstandServer

/// Templates and the pages made of them.
struct TemplateTests {
    /// A wrong name in a template would leave its place empty without an error.
    @Test func `every name in a template exists in its values`() async throws {
        let samples = try Samples()
        var given: [String: Set<String>] = [:]
        for page in try await samples.pages() {
            Self.collect(samples.frame(page), into: &given[page.template, default: []])
        }
        let parts = Set(Console.sources.values.flatMap(Self.parts))
        #expect(Set(given.keys).union(parts).union(["check"]) == Set(Console.sources.keys))
        // A template asks each piece for the name of every case (`words`, `link`, …), also of cases that its page does
        // not contain, and each field of a form for its choices. So each template may use the names of the pieces and
        // choices of all pages.
        var pieces: Set<String> = []
        for page in try await samples.pages() {
            Self.collect(page, into: &pieces, only: Piece.self)
            Self.collect(page, into: &pieces, only: Choice.self)
        }
        for (template, names) in given {
            let unknown = try Self.names(of: template).subtracting(names.union(pieces))
            #expect(unknown.isEmpty, "\(template)")
        }
    }

    /// The names of all stored properties of `value` and of what is in it.
    ///
    /// - Parameter only: collects only names within values of this type; `nil`: all names.
    private static func collect(_ value: Any, into names: inout Set<String>, only: Any.Type? = nil) {
        let isWanted = only == nil || type(of: value) == only
        for child in Mirror(reflecting: value).children {
            if let label = child.label, isWanted { names.insert(label) }
            if let fields = child.value as? [String: String] { names.formUnion(fields.keys) }
            collect(child.value, into: &names, only: isWanted ? nil : only)
        }
    }

    /// The names a template and its parts read.
    private static func names(of template: String) throws -> Set<String> {
        let text = try #require(Console.sources[template])
        var names: Set<String> = []
        for tag in tags(of: text) where !"><$/!".contains(tag.first ?? "!") {
            var name = tag.drop { "#^".contains($0) }
            if let open = name.firstIndex(of: "(") { name = name[name.index(after: open)...].dropLast() }
            if name == "." { continue }
            names.formUnion(name.split(separator: ".").map(String.init))
        }
        for part in parts(of: text) { names.formUnion(try Self.names(of: part)) }
        return names
    }

    /// The text between the braces: `#rows`, `>time`, `name`.
    private static func tags(of text: String) -> [Substring] { text.matches(of: /\{\{(.*?)\}\}/).map { $0.1 } }

    /// The parts and parents that a template uses.
    private static func parts(of text: String) -> [String] {
        tags(of: text).filter { "><".contains($0.first ?? " ") }.map { String($0.dropFirst()) }
    }

    @Test func `no template lets text through unescaped, or suggests a storage policy against Apple's advice`() {
        for (name, text) in Console.sources {
            #expect(!Self.tags(of: text).contains { "{&=".contains($0.first ?? " ") }, "\(name)")
            #expect(!text.contains("mostRecentMessageStored"), "\(name)")
        }
    }

    @Test func `the demo's server takes the settings of webhooks, and its messages have no pause`() {
        let settings = DemoCommand.settings(of: [
            "GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_LANE_INTERVAL": "5", "GRANDSTAND_ROLES": "api",
        ])
        let timeouts = ["GRANDSTAND_APNS_REQUEST_TIMEOUT": "60", "GRANDSTAND_DATABASE_WAIT": "60"]
        let given = ["GRANDSTAND_WEBHOOK_HTTP": "true", "GRANDSTAND_LANE_INTERVAL": "0"]
        #expect(settings == given.merging(timeouts) { $1 })
    }
}

/// Pages made from given values.
struct ConsolePageTests {
    @Test func `the overview plots the apps that have channels, and has the gravest problems first`() throws {
        let samples = try Samples()
        let calm = Quota(
            bundleID: try #require(BundleID(rawValue: "a.first")), environment: .development, limit: 100)
        let page = samples.overview([calm, samples.quota()])
        #expect(page.plots.map(\.heading) == ["com.example.Stadium, production"])
        #expect(page.plots[0].summary.hasPrefix("9,610 of 9,997 places are taken"))
        #expect(page.attentions.map(\.level) == ["critical", "critical", "warning", "warning", "warning"])
        #expect(page.attentions[0].advice.hasSuffix("--apply --recreate`."))
    }

    @Test func `an app's page says that a key file is missing, and a refused key`() throws {
        let refusals = #"{"production":{"reason":"ExpiredProviderToken","since":"2026-11-21T20:45:00Z"}}"#
        for (state, text) in [("missing", "missing"), ("refused", "refused Expired")] {
            let app = #"{"credentials":{"production":"\#(state)"},"credentialRefusals":\#(refusals)}"#
            let facts = Resource.apps.detail?.facts.facts(try JSONValue(decoding: app.utf8), try Samples().visit())
            let production = try #require(facts?.first { $0.label == "Credentials in production" })
            #expect(production.pieces.map(\.text).joined(separator: " ").contains(text))
        }
    }

    @Test func `a long list is cut with a note`() {
        let all = Table("", Array(0..<1_500), [Column("Name") { _ in [] }, Column("Size") { _ in [] }])
        #expect(all.rows.count == 200 && all.remainder?.hasPrefix("1,300 more") == true)
        #expect(all.rows[0].map(\.isHead) == [true, false])
    }
}

/// How pages show addresses and texts.
struct ViewTests {
    @Test func `addresses are escaped, and links to other pages of a list keep its filters`() throws {
        let samples = try Samples()
        #expect(ConsolePath.event(try #require(EventKey(rawValue: "a:b"))) == "/console/events/a%3Ab")
        #expect(
            ConsolePath.channels(samples.app) == "/console/apps/com.example.Stadium/production/channels")
        #expect(ConsolePath.link("/console", [("a", "x&y"), ("b", nil)]) == "/console?a=x%26y")
        let list = EventList(
            [], next: "c=", EventFilter(kind: "a b"), samples.visit("/console/events"))
        #expect(list.onward == "/console/events?kind=a%20b&cursor=c%3D")
    }

    // MARK: Escaping

    @Test(arguments: [
        ("Derby – 1:0 ⚽️", "Derby – 1:0 ⚽️"), ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"),
        ("\"\u{301}", "&quot;\u{301}"), ("<\u{338}", "&lt;\u{338}"), ("a\u{202E}b\u{2066}", "a[U+202E]b[U+2066]"),
        ("\u{0}\u{1B}\u{7F}\u{9B}", "[U+0][U+1B][U+7F][U+9B]"), ("\r\n\t", "[U+D]\n\t"),
        ("עברית \u{200F}", "עברית \u{200F}"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
    ])
    func `markup is escaped, deceptive characters are shown by name, and other text stays`(text: String, html: String) {
        #expect(Array(HTMLText().escapeText(text).unicodeScalars) == Array(html.unicodeScalars))
    }
}

/// The content of the match page, made without a server or a database.
struct MatchTests {
    @Test func `the score is the newest content that Apple accepted, as the app's preview template shows it`() throws {
        let samples = try Samples()
        var rejected = try samples.message([samples.delivery(.rejected, reason: "BadPriority")])
        rejected.id = UUID().text
        let accepted = try samples.message([samples.delivery(.accepted)])
        var waiting = try samples.message([samples.delivery(.queued, attempts: 0)])
        waiting.id = UUID().text
        let previews = [samples.bundleID.rawValue: samples.preview]
        let cards = ScoreCard.cards(samples.event(), [waiting, rejected, accepted], previews)
        // The two environments of an app show followers the same content, so they share one card.
        #expect(cards.count == 1)
        #expect(cards[0].score?.compact == "1 – 0" && cards[0].scoreJSON == nil)
        #expect(cards[0].scoreNote == "Something newer is on its way.")
        let plain = ScoreCard.cards(samples.event(), [accepted], [:])
        #expect(plain[0].score == nil)
        #expect(plain[0].scoreJSON == "{\n  \"home\": 1,\n  \"away\": 0,\n  \"t\": \"Derby\"\n}")
        #expect(plain[0].scoreNote == nil)
        #expect(
            ScoreCard.cards(samples.event(), [rejected], previews)[0].scoreNote?.contains("taken no content") == true)
    }

    @Test func `a message is told in the words of its outcome, with the changed members first`() throws {
        let samples = try Samples()
        func entry(
            _ outcome: Contract.StateOutcome?, alert: String? = nil, event: Contract.BroadcastKind = .update
        ) throws -> TimelineEntry {
            var (before, message) = (try samples.message([]), try samples.message([], event: event))
            before.message?.contentState = try RawJSON(json: #"{"away": 0, "home": 0}"#)
            message.message?.contentState = try RawJSON(json: #"{"away": 0, "home": 1}"#)
            message.message?.alert = try alert.map { try RawJSON(json: $0) }
            message.message?.byVariant = nil
            message.outcome = outcome
            return TimelineEntry(message, of: samples.event().eventKey, [:], [:], since: before)
        }
        #expect(try entry(.rings, alert: #"{"title": "Goal"}"#).did == "Goal alert")
        #expect(try entry(nil, alert: #"{"title": {"loc-key": "GOAL"}}"#).did == "GOAL alert")
        #expect(try entry(.quiet).did == "quiet")
        #expect(try entry(.update).did == "update")
        #expect(try entry(.end, event: .end).did == "end")
        #expect(try entry(.quiet).content?.members.map(\.isChanged) == [true, false])
        #expect(try entry(.quiet).content?.members.first?.memberName == "home")
    }

    @Test func `the counts of a start are a sentence`() throws {
        var start = try Samples().start()
        #expect(
            StartLine(start).counted
                == "Of 1,200 followers, Apple refused it for 2 (2 BadDeviceToken) and 4 cannot get one (1 by their system, "
                + "1 switched off, 1 without a token, 1 too late).")
        start.counts = Contract.StartCounts()
        #expect(StartLine(start).counted == "Nobody follows it yet.")
    }
}

/// The advice that pages show about refusals by Apple, expired deliveries and quotas.
struct AdviceTests {
    @Test func `a refusal has the runbook's advice, without links and marks`() {
        let long = Advice.delivery(.rejected, reason: "PayloadTooLarge")
        #expect(long?.hasPrefix("Shorten contentState or alert") == true)
        #expect(Advice.about("BroadcastFeatureNotEnabled")?.hasSuffix("App ID on: GrandstandCapabilityOff") == true)
        #expect(Advice.about("quota-exhausted") != nil && Advice.about("other") == nil)
        #expect(Advice.delivery(.expired, reason: nil) != nil && Advice.delivery(.accepted, reason: nil) == nil)
    }

    @Test func `a normal quota has no advice, a refused key is critical, an excess to come is a warning`() throws {
        for alarm in Contract.QuotaAlarm.allCases { #expect(DoctorCheck.advice(alarm.rawValue, "") != nil, "\(alarm)") }
        let samples = try Samples()
        var fine = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false, exceedsAt: nil)
        #expect(Attention.list(fine).isEmpty)
        fine.keyRefused = Contract.KeyRefused(
            teamId: "TEAM123456", keyId: "KEY1234567", reason: "InvalidProviderToken", since: Samples.now)
        #expect(Attention.list(fine).map(\.level) == ["critical"])
        (fine.keyRefused, fine.isNothingAccepted, fine.unacceptedSince) = (nil, true, Samples.now)
        #expect(Attention.list(fine)[0].advice.contains("In place of rejected and expired ones send the newest state."))
        let coming = samples.quota([.active: 10], unmanaged: 0, alarm: nil, isCapabilityOff: false)
        #expect(Attention.list(coming).map(\.level) == ["warning"])
    }
}
