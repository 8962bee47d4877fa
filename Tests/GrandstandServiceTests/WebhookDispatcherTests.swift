internal import Foundation
internal import Grandstand
internal import Synchronization
internal import Testing

@testable internal import GrandstandService

@Suite(.timeLimit(.minutes(1)))
struct WebhookDispatcherTests {
    /// Messages that are due at once. It records what happens to them.
    private final class Box: WebhookOutbox {
        struct Books {
            var waiting: [ClaimedWebhook]
            var settled: [WebhookSettlement] = []
            var released: [UUID] = []
            var claimFailures: Int
        }

        let books: Mutex<Books>
        let changes: AsyncStream<Void>
        private let changed: AsyncStream<Void>.Continuation

        init(_ messages: [ClaimedWebhook], claimFailures: Int = 0) {
            books = Mutex(Books(waiting: messages, claimFailures: claimFailures))
            (changes, changed) = AsyncStream.makeStream()
        }

        func compose(now: Date, limit: Int) async throws -> Int { 0 }

        func extendLeases(of deliveries: [UUID], replica: UUID, until: Date) async throws {}

        func claim(_ claim: WebhookClaim) async throws -> [ClaimedWebhook] {
            try books.withLock { books in
                if books.claimFailures > 0 {
                    books.claimFailures -= 1
                    throw Problem(.storeUnavailable, "down")
                }
                defer { books.waiting.removeFirst(min(claim.limit, books.waiting.count)) }
                return Array(books.waiting.prefix(claim.limit))
            }
        }

        func settle(_ settlement: WebhookSettlement, replica: UUID, now: Date) async throws {
            books.withLock { $0.settled.append(settlement) }
            changed.yield()
        }

        func release(_ deliveries: [UUID], replica: UUID, now: Date) async throws {
            books.withLock { $0.released += deliveries }
            changed.yield()
        }

        func nextDue() async throws -> Date? { nil }

        func wait(until isEnough: (Books) -> Bool) async {
            if books.withLock({ isEnough($0) }) { return }
            for await _ in changes where books.withLock({ isEnough($0) }) { return }
        }
    }

    /// Returns `answer`. If it is `nil`, a call returns only when it is cancelled.
    private struct Door: WebhookGateway {
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

    private static func dispatcher(_ box: Box, _ door: Door, drain: Duration = .seconds(30)) -> WebhookDispatcher {
        WebhookDispatcher(
            outbox: box, gateway: door, signals: HandSignals(), settings: .init(lease: 20, drain: Drain(drain)),
            now: { Sample.now }, logger: Sample.logger)
    }

    @Test func `every message is posted once and its result recorded, even if there are more than fit at a time`()
        async throws
    {
        let messages = try (0..<100).map { _ in try Self.message() }
        let box = Box(messages, claimFailures: 1)
        let running = Task { await Self.dispatcher(box, Door(answer: .answered(status: 500))).run() }
        await box.wait { $0.settled.count == 100 }
        running.cancel()
        await running.value
        let settled = box.books.withLock { $0.settled }
        #expect(Set(settled.map(\.delivery)) == Set(messages.map(\.id)))
        let statuses = Set(settled.map(\.verdict.status))
        #expect(statuses == [500])
    }

    @Test func `messages without an answer at the end of the drain are given back`() async throws {
        let message = try Self.message()
        let box = Box([message])
        let door = Door(answer: nil)
        let running = Task { await Self.dispatcher(box, door, drain: .milliseconds(20)).run() }
        for await _ in door.entered.stream { break }
        running.cancel()
        await running.value
        let books = box.books.withLock { $0 }
        #expect(books.released == [message.id])
        #expect(books.settled.isEmpty)
    }
}
