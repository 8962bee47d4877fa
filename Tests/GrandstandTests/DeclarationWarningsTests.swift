internal import APNsWire
internal import FoundationEssentials
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import Grandstand

/// The warnings for a declaration that moves an event or removes an audience.
struct DeclarationWarningsTests {
    private typealias Scheduled = DeclarationWarnings.Scheduled

    private static let now = Date(timeIntervalSince1970: 1_795_300_000)

    private static func at(_ seconds: Double) -> Date { now.addingTimeInterval(seconds) }

    private static func times(_ startsAt: Double?, _ endsAt: Double? = nil) -> EventTimes {
        EventTimes(startsAt: startsAt.map(at), endsAt: endsAt.map(at))
    }

    /// The declaration of an event whose times were `before`.
    private static func declared(
        _ before: EventTimes?, _ startsAt: Double?, _ endsAt: Double? = nil, start: Contract.Start? = nil
    ) -> DeclarationWarnings {
        DeclarationWarnings(from: before, to: times(startsAt, endsAt), start: start, now: now)
    }

    @Test func `an event is postponed when its start moves later, into the future`() {
        for (before, after, isPostponed) in [
            (-60.0 as Double?, 60.0 as Double?, true), (60, 120, true), (nil, 60, true), (120, 60, false),
            (60, 60, false), (-60, -30, false), (-60, nil, false), (60, 0, false),
        ] {
            #expect(Self.declared(Self.times(before), after).isPostponed == isPostponed, "\(before ?? 0)")
        }
    }

    @Test func `one warning says that messages with a fixed time keep it when the event moves`() {
        let own = [Scheduled(sendAt: Self.at(60)), Scheduled(sendAt: Self.at(90))]
        let told = Self.declared(Self.times(3_600), 7_200)
        #expect(Self.declared(Self.times(7_200), 7_200).moving(own).isEmpty)
        #expect(told.moving([]).isEmpty)
        let warnings = told.moving(own)
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(": 2, the first at 2026-11-21T22:27:40.000Z.") == true)
        #expect(Self.declared(Self.times(3_600), nil).moving(own).count == 1)
    }

    @Test func `messages relative to the start move without a warning, unless they become late or past`() {
        let relative = [Scheduled(sendAt: Self.at(3_000), afterStart: -600)]
        #expect(Self.declared(Self.times(3_600, 9_000), 7_200, 9_000).moving(relative).isEmpty)
        // The third warning uses the event's new start. The message is sent 600 s after this start, which is later than
        // `endsAt`.
        let after = [Scheduled(sendAt: Self.at(3_000), afterStart: 600)]
        for (warnings, words, time) in [
            (Self.declared(Self.times(3_600), 300).moving(relative), "sent at once", -300.0),
            (Self.declared(Self.times(3_600), nil).moving(relative), "wait until it is set", 3_000),
            (Self.declared(Self.times(2_400, 7_500), 7_200, 7_500).moving(after), "after endsAt", 7_800),
        ] {
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains(words) == true)
            #expect(warnings.first?.contains(RFC3339.text(Self.at(time))) == true)
        }
    }

    @Test func `removing an audience without an end gives a warning with the number of followers`() throws {
        let audience = Audience.ID(
            bundleID: try #require(BundleID(rawValue: "com.example.App")), environment: .production,
            variant: Variant(rawValue: "de"))
        #expect(DeclarationWarnings.removing(audience, channelID: nil, hasTokens: false) == nil)
        let ofChannel = try #require(DeclarationWarnings.removing(audience, channelID: "a==", hasTokens: false))
        #expect(ofChannel.contains("com.example.App in production for variant de") && ofChannel.contains("channel a=="))
        let ofTokens = try #require(DeclarationWarnings.removing(audience, channelID: nil, hasTokens: true))
        #expect(ofTokens.contains("have tokens") && !ofTokens.contains("follow its channel"))
    }

    private static func start(at time: Date?, staleDate: Date? = nil) -> Contract.Start {
        Contract.Start(
            at: time, attributesType: "Match", attributes: RawJSON(unchecked: "{}".utf8),
            alert: RawJSON(unchecked: "{}".utf8), staleDate: staleDate, restart: false)
    }

    @Test(arguments: [7_200.0, nil]) func `a start with its own time warns when its event moves`(after: Double?) {
        func warnings(_ startAt: Double, from before: Double?) -> [String] {
            let told = Self.declared(Self.times(before), after, start: Self.start(at: Self.at(60)))
            return told.keeping(startAt: Self.at(startAt))
        }
        #expect(warnings(60, from: 3_600).count == 1)
        #expect(warnings(30, from: 3_600).isEmpty && warnings(60, from: after).isEmpty)
    }

    @Test func `a start whose content is stale from the beginning gives a warning`() {
        func warnings(_ staleDate: Double?, at time: Double? = nil) -> [String] {
            Self.declared(nil, 3_600, start: Self.start(at: time.map(Self.at), staleDate: staleDate.map(Self.at))).start
        }
        #expect(Self.declared(nil, 3_600).start.isEmpty)
        #expect(warnings(nil).isEmpty)
        #expect(warnings(3_601).isEmpty)
        #expect(warnings(3_600).count == 1)
        #expect(warnings(60, at: 0).isEmpty)
        #expect(warnings(-60, at: -120).first?.contains(RFC3339.text(Self.at(-60))) == true)
    }
}
