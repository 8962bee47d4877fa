internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// A phone's next request and the effect of answers, without a clock, disk or network.
struct UploadPlannerTests {
    /// Another step was expected.
    private struct Unexpected: Error {}

    private var planner = UploadPlanner()
    private var record = DeviceRecord()

    init() { record.changeFacts { $0.systemVersion = "18.4" } }

    private typealias Outcome = Result<Bool, any Error>

    private static let accepted = Outcome.success(false)
    private static let unanswered = Outcome.failure(NoAnswer())

    private static func refused(_ status: Int, _ slug: String, sequence: Int? = nil, after: Int? = nil) -> Outcome {
        .failure(ServerProblem.device(status, slug, sequence: sequence, retryAfter: after))
    }

    private func due(at now: TimeInterval = .zero) throws -> DeviceRequest {
        guard case .send(let request) = planner.next(record, at: now) else { throw Unexpected() }
        return request
    }

    /// Takes the next request from the planner and records its outcome.
    private mutating func settle(_ outcome: Outcome, at now: TimeInterval = .zero) throws {
        let request = try due(at: now)
        planner.willSend(request, &record)
        _ = planner.settle(request, outcome, &record, at: now, jitter: 0)
    }

    private mutating func see(_ state: ActivityPhase, of key: String = "derby") {
        record.merge(DeviceActivity(id: "1", attributesType: "M", eventKey: key, state: state))
    }

    private func sequence(at now: TimeInterval = .zero) -> Int? {
        if case .register(let facts) = try? due(at: now) { facts.sequence } else { nil }
    }

    @Test func `nothing is sent before the phone's tokens and activities were read`() {
        #expect(planner.next(DeviceRecord(), at: .zero) == .idle)
    }

    @Test mutating func `a launch uploads everything once, and later only changes`() throws {
        #expect(sequence() == 1)
        try settle(Self.accepted)
        #expect(planner.next(record, at: .zero) == .idle)
        record.changeFacts { $0.systemVersion = "18.4" }
        #expect(planner.next(record, at: .zero) == .idle)
        record.changeFacts { $0.topics = ["team:rapid", "team:rapid"] }
        #expect(sequence() == 2)
    }

    @Test mutating func `a change during a request is uploaded after it`() throws {
        let request = try due()
        record.changeFacts { $0.topics = ["a"] }
        _ = planner.settle(request, Self.accepted, &record, at: .zero, jitter: 0)
        #expect(sequence() == 2)
    }

    @Test
    mutating func `failures make waits longer, and a wait that the server asked for also applies in the foreground`()
        throws
    {
        try settle(Self.unanswered)
        #expect(planner.next(record, at: .zero) == .wait(until: 1))
        try settle(Self.refused(503, "store-unavailable"), at: 1)
        #expect(planner.next(record, at: 1) == .wait(until: 3))
        planner.hurry(at: 2)
        try settle(Self.refused(429, "rate-limited", after: 60), at: 2)
        planner.hurry(at: 3)
        #expect(planner.next(record, at: 3) == .wait(until: 62))
        for _ in 0..<20 { try settle(Self.unanswered, at: max(62, planner.backoff.notBefore)) }
        #expect(planner.next(record, at: 62) == .wait(until: planner.backoff.notBefore))
        #expect(planner.backoff.notBefore < 20 * 300 + 62)
    }

    @Test mutating func `a reinstalled app continues from the server's sequence`() throws {
        try settle(Self.refused(409, "stale-installation", sequence: 41))
        #expect(sequence() == 42)
        try settle(Self.accepted)
        #expect(record.confirmed == 42)
    }

    @Test(arguments: [(401, "unauthenticated"), (403, "forbidden")])
    mutating func `an invalid key is not tried again during this launch`(status: Int, slug: String) throws {
        try settle(Self.refused(status, slug))
        planner.hurry(at: 10)
        record.changeFacts { $0.topics = ["a"] }
        #expect(planner.next(record, at: 9_999) == .idle && planner.keyRefusal?.status == status)
        // The next launch may have another key. The state to upload is still there.
        planner = UploadPlanner()
        #expect(sequence() == 2)
    }

    /// An answer of a proxy or captive portal says nothing about the key or the request.
    @Test(arguments: [401, 403, 404, 407, 422, 502])
    mutating func `an answer that is not the server's changes nothing`(status: Int) throws {
        try settle(Self.refused(status, ""))
        #expect(planner.keyRefusal == nil)
        // The request may have been processed, so it still counts as unanswered.
        #expect(record.unanswered == 1)
        #expect(planner.next(record, at: .zero) == .wait(until: 1) && sequence(at: 1) == 1)
    }

    @Test mutating func `an installation that the server forgot registers again and reports its activities again`()
        throws
    {
        try settle(Self.accepted)
        see(.active)
        try settle(Self.accepted)
        see(.stale)
        try settle(Self.refused(404, "installation-not-found"))
        #expect(sequence(at: 1) == 1)
        try settle(.success(true), at: 1)
        guard case .report(let activity) = try due(at: 1) else { throw Unexpected() }
        #expect(activity.state == .stale)
    }

    @Test mutating func `a permanent refusal is not repeated until the state changes`() throws {
        try settle(Self.refused(422, "invalid-request"))
        #expect(planner.next(record, at: 9_999) == .idle)
        #expect(planner.rejection?.slug == "invalid-request")
        record.changeFacts { $0.locale = "de" }
        #expect(sequence(at: 9_999) == 2)
        try settle(Self.accepted)
        #expect(planner.rejection == nil)
        see(.active, of: "nobody-knows")
        try settle(Self.refused(404, "event-not-found"))
        #expect(planner.next(record, at: 9_999) == .idle)
    }

    @Test mutating func `a report without an answer is repeated once, because an older one may still arrive`() throws {
        try settle(Self.accepted)
        see(.active)
        try settle(Self.unanswered)
        see(.dismissed)
        try settle(Self.accepted, at: 5)
        #expect(planner.next(record, at: 5) == .idle)
        #expect(record.activities["1"] != nil)
        record.repeatInDoubt()
        try settle(Self.accepted, at: 6)
        #expect(record.activities.isEmpty)
    }

    @Test mutating func `a launch without a change registers nothing, and the repetition waits for its time`() throws {
        try settle(Self.accepted)
        planner = UploadPlanner()
        planner.hurry(at: 10)
        #expect(planner.next(record, at: 9_999) == .idle)
        planner.hurry(at: 10_000, repeatAfter: 1_800)
        #expect(planner.next(record, at: 10_000) == .idle && planner.renewTime(of: record) == 11_800)
        #expect(sequence(at: 11_800) == 1)
        try settle(Self.unanswered, at: 11_800)
        // The next launch repeats what has no answer. If the server refuses it, reports do not wait for it.
        planner = UploadPlanner()
        see(.active)
        #expect(sequence(at: 11_801) == 1)
        try settle(Self.refused(422, "invalid-request"), at: 11_801)
        try settle(Self.accepted, at: 11_801)
        #expect(planner.next(record, at: 99_999) == .idle && planner.renewTime(of: record) == nil)
    }

    @Test func `an installation registers again at a random time, about a week after the last`() {
        let registered = Date(timeIntervalSince1970: 1_700_000_000)
        let repetition = Reregistration(registered: registered, chance: 0.5)
        func delay(days: Double, jitter: Double = 0.5) -> TimeInterval? {
            repetition.delay(at: registered.addingTimeInterval(days * 86_400), jitter: jitter)
        }
        #expect(delay(days: 0) == nil && delay(days: 6.9) == nil)
        #expect(delay(days: 7.1) == 1_800 && delay(days: 7.1, jitter: 1) == 3_600)
        // For 57 days the app was never open for long enough to register again.
        #expect(delay(days: 57) == 30)
        // The clock was set back.
        #expect(delay(days: -1) == 1_800)
    }

    @Test mutating func `a request to forget is repeated until it succeeds, unless the person returns`() throws {
        try settle(Self.accepted)
        record.isLeaving = true
        #expect(try due() == .forget)
        try settle(Self.unanswered)
        let request = try due(at: 1)
        #expect(record.undoForget() == false)
        record.changeFacts { $0.topics = ["a"] }
        #expect(planner.settle(request, Self.accepted, &record, at: 1, jitter: 0) == nil)
        #expect(sequence(at: 1) == 2)
    }
}
