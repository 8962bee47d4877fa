internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
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
        _ event: BroadcastPayload.Event = .update, alert: String? = nil, stateSize: Int = 2, expiresIn: Int? = nil,
        apnsExpiration: Int? = nil, priority: APNsPriority? = nil
    ) -> BroadcastRequest {
        let state = stateSize <= 8 ? "{}" : #"{"a":"\#(String(repeating: "x", count: stateSize - 8))"}"#
        return BroadcastRequest(
            payload: BroadcastPayload(
                event: event, contentState: Array(state.utf8), alert: alert.map { Array($0.utf8) }),
            priority: priority, expiresIn: expiresIn, apnsExpiration: apnsExpiration)
    }

    private func expirations(_ request: BroadcastRequest) throws -> [Int] {
        try DeliveryPlan(request, audiences: [unstored, stored], now: now).messages.map(\.apnsExpiration)
    }

    @Test func `apns-expiration is 0 where nothing is stored, otherwise the given time, or in 8 h`() throws {
        #expect(try expirations(request()) == [0, epoch + 28_800])
        #expect(try expirations(request(expiresIn: 300)) == [0, epoch + 301])
        #expect(try expirations(request(apnsExpiration: 0)) == [0, 0])
        let plan = try DeliveryPlan(request(expiresIn: 300), audiences: [unstored], now: now)
        #expect(plan.expiresAt == now.addingTimeInterval(300))
        // Any other time is refused where nothing is stored, in the past, and beyond 8 h.
        for (value, audience) in [(epoch + 60, unstored), (epoch, stored), (epoch + 28_801, stored)] {
            #expect {
                try DeliveryPlan(request(apnsExpiration: value), audiences: [audience], now: now)
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
                let plan = try DeliveryPlan(request, audiences: [stored], now: now)
                let deadline = plan.expiresAt.timeIntervalSince1970
                #expect(deadline > now.timeIntervalSince1970)
                #expect(deadline.rounded(.up) <= Double(epoch + 28_800))
                let header = try #require(plan.messages.first).apnsExpiration
                #expect(header == 0 || Double(header) >= deadline && header <= epoch + 28_800)
            }
        }
    }

    @Test func `the priority is 10 with an alert or for an end, otherwise 5, unless it is given`() throws {
        let cases: [(BroadcastRequest, APNsPriority)] = [
            (request(), .powerAware), (request(alert: "{}"), .immediate), (request(.end), .immediate),
            (request(alert: "{}", priority: .lowest), .lowest),
        ]
        for (request, priority) in cases {
            let messages = try DeliveryPlan(request, audiences: [stored], now: now).messages
            #expect(messages[0].priority == priority)
        }
    }

    @Test func `a body may have at most 5,120 bytes, and a content beyond ActivityKit's 4,096 bytes has a warning`()
        throws
    {
        func warnings(_ size: Int) throws -> Int {
            try DeliveryPlan(request(stateSize: size), audiences: [stored], now: now).warnings.count
        }
        #expect(try warnings(4_096) == 0)
        #expect(try warnings(4_097) == 1)
        let around = BroadcastPayload(event: .update, contentState: []).body(timestamp: epoch).count
        #expect(try warnings(APNsLimits.broadcastPayload - around) == 1)
        let problem = #expect(throws: Problem.self) { try warnings(APNsLimits.broadcastPayload - around + 1) }
        #expect(problem?.kind == .payloadTooLarge && problem?.size == 5_121)
    }

    @Test func `a content that fits only without unicode escapes is sent without them, with a warning`() throws {
        func fitted(_ letters: Int) -> (request: BroadcastRequest, warning: String?) {
            let text = #"{"a":"\""# + String(repeating: #"\u00e9"#, count: letters) + #"\n\u0007\ud83d\ude00"}"#
            return BroadcastRequest(payload: BroadcastPayload(event: .update, contentState: Array(text.utf8)))
                .fitted(at: now)
        }
        let (short, none) = fitted(700)
        #expect(none == nil && short.payload.contentState?.count == 4_230)
        let (request, warning) = fitted(1_000)
        let plain = #"{"a":"\""# + String(repeating: "é", count: 1_000) + #"\n\u0007😀"}"#
        #expect(request.payload.contentState == Array(plain.utf8))
        #expect(warning?.contains("ensure_ascii=False") == true)
        #expect(try DeliveryPlan(request, audiences: [stored], now: now).items.count == 1)
        // If that does not help, the refusal tells the size of what was sent.
        let (long, nothing) = fitted(2_600)
        #expect(nothing == nil && long.payload.contentState?.count == 15_630)
    }

    @Test func `a dismissal more than four hours after the end is refused, and one in the past means at once`()
        throws
    {
        let latest = epoch + 14_400
        func plan(_ date: Int) throws -> DeliveryPlan {
            let request = BroadcastRequest(payload: BroadcastPayload(event: .end, dismissalDate: date))
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
        request.audiences = [AudienceSelector(stored.id), AudienceSelector(stored.id)]
        #expect(try DeliveryPlan(request, audiences: [unstored, stored], now: now).items.map(\.audience) == [stored])
        #expect {
            try DeliveryPlan(request, audiences: [unstored], now: now)
        } throws: { ($0 as? Problem)?.errors.map(\.pointer) == ["/audiences/0", "/audiences/1"] }
    }
}

extension DeliveryPlan {
    init(_ request: BroadcastRequest, audiences: [Audience], now: Date) throws(Problem) {
        try self.init(request, to: audiences.map { Item($0) }, now: now)
    }

    /// The messages of some broadcast.
    var messages: [LaneMessage] { items.map { message(of: UUID(), to: $0) } }
}
