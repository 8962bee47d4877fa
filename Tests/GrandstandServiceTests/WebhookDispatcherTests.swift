internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct WebhookDispatcherTests {
    /// An outbox of messages that are due at once. It records what happens to them.
    private final class Box: WebhookOutbox {
        struct Record {
            var waiting: [ClaimedWebhook]
            var settled: [WebhookSettlement] = []
            var released: [UUID] = []
            var claimFailures: Int
        }

        let record: Mutex<Record>
        let changes: AsyncStream<Void>
        private let changed: AsyncStream<Void>.Continuation

        init(_ messages: [ClaimedWebhook], claimFailures: Int = 0) {
            record = Mutex(Record(waiting: messages, claimFailures: claimFailures))
            (changes, changed) = AsyncStream.makeStream()
        }

        func compose(now: Date, limit: Int) async throws -> Int { 0 }

        func extendLeases(of deliveries: [UUID], replica: UUID, until: Date) async throws {}

        func claim(_ claim: WebhookClaim) async throws -> [ClaimedWebhook] {
            try record.withLock { record in
                if record.claimFailures > 0 {
                    record.claimFailures -= 1
                    throw Problem(.storeUnavailable, "down")
                }
                defer { record.waiting.removeFirst(min(claim.limit, record.waiting.count)) }
                return Array(record.waiting.prefix(claim.limit))
            }
        }

        func settle(_ settlement: WebhookSettlement, replica: UUID, now: Date) async throws {
            record.withLock { $0.settled.append(settlement) }
            changed.yield()
        }

        func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws {
            record.withLock { $0.released += deliveries }
            changed.yield()
        }

        func nextDue() async throws -> Date? { nil }

        func wait(until isEnough: (Record) -> Bool) async {
            if record.withLock({ isEnough($0) }) { return }
            for await _ in changes where record.withLock({ isEnough($0) }) { return }
        }
    }

    /// Returns `answer`. If it is `nil`, a call returns only when it is cancelled.
    private struct FakeGateway: WebhookGateway {
        var answer: WebhookAnswer?
        let entered = AsyncStream.makeStream(of: Void.self)

        func post(_ message: ClaimedWebhook) async -> WebhookAnswer {
            entered.continuation.yield()
            if let answer { return answer }
            let (never, hold) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            withExtendedLifetime(hold) {}
            return .unanswered("cancelled")
        }
    }

    private static func message() throws -> ClaimedWebhook {
        ClaimedWebhook(
            id: UUID(), webhook: UUID(), message: UUID(), topic: .webhookTest,
            url: try #require(WebhookURL(rawValue: "https://example.com")), secrets: [.random()], body: [], tries: 1)
    }

    private static func dispatcher(_ box: Box, _ gateway: FakeGateway, drain: Duration = .seconds(30))
        -> WebhookDispatcher
    {
        WebhookDispatcher(
            outbox: box, gateway: gateway, signals: HandSignals(), settings: .init(lease: 20, drain: Drain(drain)),
            now: { Sample.now }, logger: Sample.logger)
    }

    @Test func `every message is posted once and its result recorded, even if there are more than fit at a time`()
        async throws
    {
        let messages = try (0..<100).map { _ in try Self.message() }
        let box = Box(messages, claimFailures: 1)
        let running = Task { await Self.dispatcher(box, FakeGateway(answer: .answered(status: 500))).run() }
        await box.wait { $0.settled.count == 100 }
        running.cancel()
        await running.value
        let settled = box.record.withLock { $0.settled }
        #expect(Set(settled.map(\.delivery)) == Set(messages.map(\.id)))
        let statuses = Set(settled.map(\.verdict.status))
        #expect(statuses == [500])
    }

    @Test func `messages without an answer at the end of the drain are given back`() async throws {
        let message = try Self.message()
        let box = Box([message])
        let gateway = FakeGateway(answer: nil)
        let running = Task { await Self.dispatcher(box, gateway, drain: .milliseconds(20)).run() }
        for await _ in gateway.entered.stream { break }
        running.cancel()
        await running.value
        let record = box.record.withLock { $0 }
        #expect(record.released == [message.id])
        #expect(record.settled.isEmpty)
    }
}
