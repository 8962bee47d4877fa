internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Testing

/// The content of several audiences of one app and environment, and their names.
struct VariantTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private static func id(_ variant: String? = nil, of bundleID: String = "com.example.Goal") throws -> Audience.ID {
        Audience.ID(
            bundleID: try #require(BundleID(rawValue: bundleID)), environment: .production,
            variant: try variant.map { try #require(Variant(rawValue: $0)) })
    }

    private static func audience(_ variant: String, priority: APNsPriority? = nil) throws -> Audience {
        Audience(id: try id(variant), storagePolicy: .noMessageStored, priority: priority)
    }

    private static func audiences() throws -> [Audience] {
        let other = Audience(id: try id(of: "com.example.Other"), storagePolicy: .noMessageStored)
        return [try audience("de"), try audience("fr"), other]
    }

    private static func update(
        _ contentState: String = "{}", alert: String? = nil, priority: APNsPriority? = nil,
        byVariant: [String: (contentState: String?, alert: String?)] = [:]
    ) throws -> BroadcastRequest {
        var request = BroadcastRequest(
            payload: BroadcastPayload(
                event: .update, contentState: Array(contentState.utf8), alert: alert.map { Array($0.utf8) }),
            priority: priority)
        for (name, override) in byVariant {
            request.byVariant[name] = Contract.VariantContent(
                contentState: override.contentState.map { RawJSON(unchecked: $0.utf8) },
                alert: override.alert.map { RawJSON(unchecked: $0.utf8) })
        }
        return request
    }

    private static func plan(_ request: BroadcastRequest, for audiences: [Audience]? = nil) throws -> DeliveryPlan {
        try DeliveryPlan(request, audiences: try audiences ?? Self.audiences(), now: now)
    }

    @Test
    func
        `a selector without a variant means all audiences of its app and environment, one with a variant only that one`()
        throws
    {
        let ids = try Self.audiences().map(\.id)
        let all = AudienceSelector(try Self.id())
        #expect(ids.map(all.matches) == [true, true, false])
        let german = AudienceSelector(try Self.id("de"))
        #expect(ids.map(german.matches) == [true, false, false])
        var elsewhere = try Self.id("de")
        elsewhere.environment = .development
        #expect(!german.matches(elsewhere))
        let italian = AudienceSelector(try Self.id("it"))
        #expect([italian].faults(among: ids).first?.detail.contains("it has de, fr.") == true)
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
        let audiences = [try Self.audience("de", priority: .lowest), try Self.audience("fr")]
        let alert = try Self.update(alert: #"{"title": "Goal"}"#)
        #expect(try Self.plan(alert, for: audiences).messages.map(\.priority) == [.lowest, .immediate])
        #expect(try Self.plan(alert, for: audiences).messages.map(\.plainPriority) == [.lowest, .powerAware])
        let asked = try Self.update(priority: .powerAware)
        #expect(try Self.plan(asked, for: audiences).messages.map(\.priority) == [.powerAware, .powerAware])
        // The event's priority comes after the audience's and before the default.
        let ofEvent = alert.filled(by: Contract.EventDefaults(priority: 5), at: Date(timeIntervalSince1970: 0))
        #expect(try Self.plan(ofEvent, for: audiences).messages.map(\.priority) == [.lowest, .powerAware])
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
        try Variant.require(known.byVariant.keys, among: ids)
        let unknown = try Self.update(byVariant: ["de": (nil, nil), "it": (nil, nil), "es": (nil, nil)])
        let problem = try #require(throws: Problem.self) { try Variant.require(unknown.byVariant.keys, among: ids) }
        #expect(problem.kind == .invalidRequest && problem.errors.map(\.pointer) == ["/byVariant/es", "/byVariant/it"])
        #expect(problem.errors.first?.detail == "The event has no variant es; it has de, fr.")
    }
}
