internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

struct DeliveryPlanTests {
    private let now = Date(timeIntervalSince1970: 1_671_390_000.25)
    private let epoch = 1_671_390_000
    private let unstored: Audience
    private let stored: Audience

    init() throws {
        let bundleID = try #require(BundleID(rawValue: "com.example.App"))
        unstored = Audience(id: .init(bundleID: bundleID, environment: .development), storagePolicy: .noMessageStored)
        stored = Audience(
            id: .init(bundleID: bundleID, environment: .production), storagePolicy: .mostRecentMessageStored)
    }

    private func request(
        stateSize: Int = 8, expiresIn: Int? = nil, apnsExpiration: Int? = nil
    ) -> Contract.BroadcastDraft {
        let state = #"{"a":"\#(String(repeating: "x", count: stateSize - 8))"}"#
        return Contract.BroadcastDraft(
            event: .update, contentState: RawJSON(unchecked: state.utf8), expiresIn: expiresIn,
            apnsExpiration: apnsExpiration)
    }

    private func plan(
        _ request: Contract.BroadcastDraft, for audiences: [Audience]? = nil, at now: Date? = nil
    ) throws -> DeliveryPlan {
        try DeliveryPlan(request, audiences: audiences ?? [stored], now: now ?? self.now)
    }

    private func expirations(_ request: Contract.BroadcastDraft) throws -> [Int] {
        try plan(request, for: [unstored, stored]).messages.map(\.apnsExpiration)
    }

    @Test func `an alert rings for 15 minutes, or as long as its content is of use`() throws {
        for (seconds, expected) in [(nil, 900.0), (600, 600), (3_600, 3_600)] as [(Int?, TimeInterval)] {
            var alert = request(expiresIn: seconds)
            alert.alert = RawJSON(unchecked: "{}".utf8)
            #expect(try plan(alert).messages.first?.ringsUntil == now.addingTimeInterval(expected))
        }
    }

    @Test func `apns-expiration is 0 where nothing is stored, otherwise the given time, or in 8 h`() throws {
        #expect(try expirations(request()) == [0, epoch + 28_800])
        #expect(try expirations(request(expiresIn: 300)) == [0, epoch + 301])
        #expect(try expirations(request(apnsExpiration: 0)) == [0, 0])
        #expect(try plan(request(expiresIn: 300), for: [unstored]).expiresAt == now.addingTimeInterval(300))
        // Any other time is refused where nothing is stored, in the past, and beyond 8 h.
        for (value, audience) in [(epoch + 60, unstored), (epoch, stored), (epoch + 28_801, stored)] {
            #expect {
                try plan(request(apnsExpiration: value), for: [audience])
            } throws: { ($0 as? Problem)?.kind == .expirationNotAllowed }
        }
    }

    /// `apns-expiration` is in whole seconds. It is rounded up. If it were rounded down, the header's time could be
    /// before the deadline, for example if the deadline is at 0.999 s.
    @Test func `until the deadline the header's time has not passed, and it is at most 8 h ahead`() throws {
        for fraction in [0, 0.000_001, 0.25, 0.5, 0.999, 0.999_999] {
            let now = Date(timeIntervalSince1970: Double(epoch) + fraction)
            let requests = [
                request(), request(expiresIn: 1), request(expiresIn: 28_799), request(expiresIn: 28_800),
                request(apnsExpiration: epoch + 1), request(apnsExpiration: epoch + 28_800), request(apnsExpiration: 0),
            ]
            for request in requests {
                let plan = try plan(request, at: now)
                let deadline = plan.expiresAt.timeIntervalSince1970
                #expect(deadline > now.timeIntervalSince1970)
                #expect(deadline.rounded(.up) <= Double(epoch + 28_800))
                let header = try #require(plan.messages.first).apnsExpiration
                #expect(header == 0 || Double(header) >= deadline && header <= epoch + 28_800)
            }
        }
    }

    @Test func `a body may have at most 5,120 bytes, and a content beyond ActivityKit's 4,096 bytes has a warning`()
        throws
    {
        func warnings(_ size: Int) throws -> Int {
            try plan(request(stateSize: size)).warnings.count
        }
        #expect(try warnings(4_096) == 0)
        #expect(try warnings(4_097) == 1)
        let around = BroadcastPayload(event: .update, contentState: []).body(timestamp: epoch).count
        #expect(try warnings(APNsLimits.broadcastPayload - around) == 1)
        let problem = #expect(throws: Problem.self) { try warnings(APNsLimits.broadcastPayload - around + 1) }
        #expect(problem?.kind == .payloadTooLarge && problem?.size == 5_121)
    }

    @Test func `a content that fits only without unicode escapes is sent without them, with a warning`() throws {
        func fitted(_ letters: Int) -> (draft: Contract.BroadcastDraft, warning: String?) {
            let text = #"{"a":"\""# + String(repeating: #"\u00e9"#, count: letters) + #"\n\u0007\ud83d\ude00"}"#
            return Contract.BroadcastDraft(event: .update, contentState: RawJSON(unchecked: text.utf8)).fitted(at: now)
        }
        let (short, none) = fitted(700)
        #expect(none == nil && short.contentState?.bytes.count == 4_230)
        let (request, warning) = fitted(1_000)
        let plain = #"{"a":"\""# + String(repeating: "é", count: 1_000) + #"\n\u0007😀"}"#
        #expect(request.contentState?.description == plain)
        #expect(warning?.contains("ensure_ascii=False") == true)
        #expect(try plan(request).items.count == 1)
        // If that does not help, the refusal tells the size of what was sent.
        let (long, nothing) = fitted(2_600)
        #expect(nothing == nil && long.contentState?.bytes.count == 15_630)
    }

    @Test func `a dismissal more than four hours after the end is refused, and one in the past means at once`()
        throws
    {
        let latest = epoch + 14_400
        func plan(_ date: Int) throws -> DeliveryPlan {
            let time = Date(timeIntervalSince1970: Double(date))
            let request = Contract.BroadcastDraft(event: .end, dismissalDate: time)
            return try DeliveryPlan(request, audiences: [stored], now: now)
        }
        for date in [1, latest - 1, latest] {
            #expect(try plan(date).items.count == 1)
        }
        #expect {
            try plan(latest + 1)
        } throws: { error in
            let problem = error as? Problem
            return problem?.kind == .invalidRequest && problem?.errors.map(\.pointer) == ["/dismissalDate"]
        }
    }

    @Test func `only the requested audiences get the message, and unknown ones are refused`() throws {
        var request = request()
        request.audiences = [.init(stored.id), .init(stored.id)]
        #expect(try plan(request, for: [unstored, stored]).items.map(\.audience) == [stored])
        #expect {
            try plan(request, for: [unstored])
        } throws: { ($0 as? Problem)?.errors.map(\.pointer) == ["/audiences/0", "/audiences/1"] }
    }
}

extension DeliveryPlan {
    init(
        _ request: Contract.BroadcastDraft, by defaults: Contract.EventDefaults = .init(), audiences: [Audience],
        now: Date
    ) throws(Problem) {
        try self.init(request, by: defaults, to: audiences.map { Item($0) }, now: now)
    }

    /// The messages of some broadcast.
    var messages: [LaneMessage] { items.map { message(of: UUID(), to: $0) } }
}

extension Audience {
    /// An audience in production.
    static func sample(
        _ variant: String? = nil, of bundleID: String = "com.example.App", priority: Int? = nil
    ) throws -> Audience {
        let id = Audience.ID(
            bundleID: try #require(BundleID(rawValue: bundleID)), environment: .production,
            variant: try variant.map { try #require(Variant(rawValue: $0)) })
        return Audience(id: id, storagePolicy: .noMessageStored, priority: priority)
    }
}

/// The content of several audiences of one app and environment, and their names.
struct VariantTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func audience(_ variant: String? = nil, priority: Int? = nil) throws -> Audience {
        try .sample(variant, priority: priority)
    }

    private static func audiences() throws -> [Audience] {
        [try audience("de"), try audience("fr"), try .sample(of: "com.example.Other")]
    }

    private static func update(
        _ contentState: String = "{}", alert: String? = nil, priority: APNsPriority? = nil,
        byVariant: [String: (contentState: String?, alert: String?)] = [:]
    ) throws -> Contract.BroadcastDraft {
        func raw(_ text: String?) -> RawJSON? { text.map { RawJSON(unchecked: $0.utf8) } }
        return Contract.BroadcastDraft(
            event: .update, contentState: raw(contentState), alert: raw(alert),
            byVariant: byVariant.mapValues { .init(contentState: raw($0.contentState), alert: raw($0.alert)) },
            priority: priority?.rawValue)
    }

    private static func plan(
        _ request: Contract.BroadcastDraft, by defaults: Contract.EventDefaults = .init(),
        for audiences: [Audience]? = nil
    ) throws -> DeliveryPlan {
        try DeliveryPlan(request, by: defaults, audiences: try audiences ?? Self.audiences(), now: now)
    }

    @Test
    func
        `a selector without a variant means all audiences of its app and environment, one with a variant only that one`()
        throws
    {
        let ids = try Self.audiences().map(\.id)
        let all = Contract.AudienceSelector(try Self.audience().id)
        #expect(ids.map(all.matches) == [true, true, false])
        let german = Contract.AudienceSelector(try Self.audience("de").id)
        #expect(ids.map(german.matches) == [true, false, false])
        var elsewhere = try Self.audience("de").id
        elsewhere.environment = .development
        #expect(!german.matches(elsewhere))
        let italian = Contract.AudienceSelector(try Self.audience("it").id)
        #expect([italian].faults(among: ids).first?.detail.hasSuffix("for variant it.") == true)
    }

    @Test func `each audience gets its variant's content and alert byte for byte, and otherwise the common ones`()
        throws
    {
        let request = try Self.update(
            #"{"goal": "scored"}"#,
            byVariant: ["de": (#"{"goal":"Tor 1.50"}"#, nil), "fr": (nil, #"{"title": "But"}"#)])
        let plan = try Self.plan(request)
        let (common, german) = (#"{"goal": "scored"}"#, #"{"goal":"Tor 1.50"}"#)
        let payloads = plan.items.map { request.payload(for: $0.audience.variant) }
        #expect(payloads.map(\.contentState) == [german, common, common].map { Array($0.utf8) })
        #expect(payloads.map(\.alert) == [nil, Array(#"{"title": "But"}"#.utf8), nil])
        // An alert for one variant rings only for that variant.
        #expect(plan.messages.map(\.priority) == [.powerAware, .immediate, .powerAware])
        #expect(plan.messages.map { $0.ringsUntil != nil } == [false, true, false])
    }

    @Test func `a broadcast's priority comes before its audience's, and that before the default`() throws {
        let audiences = [try Self.audience("de", priority: 1), try Self.audience("fr")]
        let alert = try Self.update(alert: #"{"title": "Goal"}"#)
        #expect(try Self.plan(alert, for: audiences).messages.map(\.priority) == [.lowest, .immediate])
        #expect(try Self.plan(alert, for: audiences).messages.map(\.silentPriority) == [.lowest, .powerAware])
        let asked = try Self.update(priority: .powerAware)
        #expect(try Self.plan(asked, for: audiences).messages.map(\.priority) == [.powerAware, .powerAware])
        let end = Contract.BroadcastDraft(event: .end)
        #expect(try Self.plan(end, for: audiences).messages.map(\.priority) == [.lowest, .immediate])
        // The event's priority comes after the audience's and before the default.
        let ofEvent = try Self.plan(alert, by: .init(priority: 5), for: audiences)
        #expect(ofEvent.messages.map(\.priority) == [.lowest, .powerAware])
    }

    @Test func `the error of a message that is too long names the variant, unless no audience gets it`() throws {
        let long = "{\"text\": \"" + String(repeating: "a", count: 5_200) + "\"}"
        let request = try Self.update(byVariant: ["fr": (long, nil)])
        let problem = try #require(throws: Problem.self) { try Self.plan(request) }
        #expect(problem.kind == .payloadTooLarge && problem.errors.map(\.pointer) == ["/byVariant/fr"])
        #expect(try Self.plan(request, for: [Self.audience("de")]).items.count == 1)
        // One warning names all contents that devices may drop.
        let shorter = "{\"text\": \"" + String(repeating: "a", count: 4_200) + "\"}"
        let dropped = try Self.plan(Self.update(byVariant: ["de": (shorter, nil), "fr": (shorter + " ", nil)])).warnings
        #expect(dropped.count == 1 && dropped[0].contains("4212 bytes for variant de, 4213 bytes for variant fr;"))
    }

    @Test func `unknown variants are refused by name, with the known ones`() throws {
        let ids = try Self.audiences().map(\.id)
        let known = try Self.update(byVariant: ["de": (nil, nil)])
        try Variant.require((known.byVariant ?? [:]).keys, among: ids)
        let unknown = try Self.update(byVariant: ["de": (nil, nil), "it": (nil, nil), "es": (nil, nil)])
        let problem = try #require(throws: Problem.self) {
            try Variant.require((unknown.byVariant ?? [:]).keys, among: ids)
        }
        #expect(problem.kind == .invalidRequest && problem.errors.map(\.pointer) == ["/byVariant/es", "/byVariant/it"])
        #expect(problem.errors.first?.detail == "The event has no variant es; it has de, fr.")
    }
}
