internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

@Suite(.timeLimit(.minutes(20)))
struct IdempotencyTests {
    /// How often the work was done.
    private final class Count: Sendable {
        private let value = Mutex(0)

        var current: Int { value.withLock { $0 } }

        func rise() { value.withLock { $0 += 1 } }
    }

    private static func request(_ key: String = "k", _ content: String = "POST /x {}") -> IdempotentRequest {
        IdempotentRequest(
            caller: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), key: key,
            content: Array(content.utf8))
    }

    private static func answer(_ text: String, status: Int = 202) -> KeptAnswer {
        KeptAnswer(status: status, body: Array(text.utf8))
    }

    /// Registers an app, whose row shows that the work was done.
    private static func work(_ stores: StoreWorld, _ name: String = "com.example.Goal") async throws -> KeptAnswer {
        _ = try await stores.apps.put(.sample(name))
        return answer(UUID().uuidString)
    }

    @Test func `after a refusal one of several concurrent duplicates is carried out, and the others get its answer`()
        async throws
    {
        try await withStores { stores in
            let replicas = (0..<2).map { _ in IdempotencyStore(database: Database(stores.pool)) }
            let (tries, done) = (Count(), Count())
            let outcomes = try await concurrently(20) { n -> KeptAnswer? in
                do {
                    return try await replicas[n % 2].once(Self.request(), now: stores.now) {
                        tries.rise()
                        // Only the first five tries have a reason to be refused.
                        guard tries.current > 5 else { throw Problem(.eventNotFound, "Create it first.") }
                        done.rise()
                        return try await Self.work(stores)
                    }
                } catch let problem as Problem where problem.kind == .eventNotFound { return nil }
            }
            #expect(outcomes.count { $0 == nil } == 5)
            #expect(Set(outcomes.compactMap { $0?.body }).count == 1)
            #expect(outcomes.count { $0?.isReplay == false } == 1)
            #expect((tries.current, done.current) == (6, 1))
        }
    }

    @Test(arguments: [Problem(.eventNotFound, "Create it first."), Problem(.storeUnavailable, "gone", retryAfter: 1)])
    func `after a refusal before any step the key is free, also for another body`(_ refusal: Problem) async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            func steps(_ content: String, _ work: @Sendable () async throws -> KeptAnswer) async throws
                -> KeptAnswer
            {
                try await store.inSteps(
                    Self.request("k", content), waitLimit: .zero, now: { stores.now },
                    recover: { _ in nil }, work: work)
            }
            let kind = try await problem { try await steps("POST /x {}") { throw refusal } }
            #expect(kind == refusal.kind)
            let other = try await steps("POST /x {\"a\":1}") { try await Self.work(stores) }
            #expect(!other.isReplay)
        }
    }

    @Test
    func
        `a key refused after a step accepts no other body, and a repetition recovers what was begun`()
        async throws
    {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let store = IdempotencyStore(database: Database(stores.pool))
            func steps(_ content: String = "POST /x {}") async throws -> KeptAnswer {
                try await store.inSteps(
                    Self.request("k", content), waitLimit: .zero, now: { stores.now },
                    recover: { Self.answer($0.uuidString, status: 201) },
                    work: {
                        _ = try await Self.reserve(stores)
                        throw Problem(.apnsUnanswered, "silence")
                    })
            }
            #expect(try await problem { try await steps() } == .apnsUnanswered)
            #expect(try await problem { try await steps("POST /x {\"a\":1}") } == .idempotencyMismatch)
            #expect(try await steps().isReplay)
        }
    }

    @Test func `a failed part of the work that is caught undoes only that part`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            _ = try await store.once(Self.request(), now: stores.now) {
                let result = try await Self.work(stores)
                // The same bundle ID with other capitals. The database refuses it within a savepoint.
                let kind = try await problem { try await stores.apps.put(.sample("com.example.goal")) }
                #expect(kind == .appExists)
                return result
            }
            #expect(try await stores.apps.app(.sample()) != nil)
        }
    }

    @Test func `another body with the same key is refused, and each caller has its own keys`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            _ = try await store.once(Self.request(), now: stores.now) { try await Self.work(stores) }
            let kind = try await problem {
                try await store.once(Self.request("k", "POST /x {\"a\":1}"), now: stores.now) {
                    try await Self.work(stores)
                }
            }
            #expect(kind == .idempotencyMismatch)
            var other = Self.request()
            other.caller = UUID()
            let outcome = try await store.once(other, now: stores.now) { try await Self.work(stores) }
            #expect(!outcome.isReplay)
        }
    }

    @Test func `after a day a key is free again and is removed`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            _ = try await store.once(Self.request(), now: stores.now) { try await Self.work(stores) }
            let dayLater = stores.now + 86_401
            let outcome = try await store.once(Self.request("k", "other"), now: dayLater) {
                try await Self.work(stores)
            }
            #expect(!outcome.isReplay)
            let history = stores.history
            #expect(try await history.prune("kept answers", before: dayLater, limit: 10) == 0)
            #expect(try await history.prune("kept answers", before: dayLater + 1, limit: 10) == 1)
        }
    }

    @Test func `a secret is only in the first answer, and never in the database`() async throws {
        try await withStores { stores in
            let store = IdempotencyStore(database: Database(stores.pool))
            var request = Self.request()
            request.shownOnce = "secret"
            let made = Self.answer(#"{"id":"1","secret":"gs_new","name":"é"}"#, status: 201)
            let first = try await store.once(request, now: stores.now) { made }
            #expect(first == made)
            let row = try #require(
                try await stores.pool.query("select convert_from(body, 'utf8') as body from idempotency_keys").first)
            let body: String = try row.decode("body")
            #expect(body.hasPrefix(#"{"id":"1","name":"é","warnings":["The secret was shown once"#))
            let again = try await store.once(request, now: stores.now) { try await Self.work(stores) }
            #expect(again == KeptAnswer(status: 201, body: Array(body.utf8), isReplay: true))
        }
    }

    // MARK: In steps

    /// Records the intent to create a channel, as a request with several steps does.
    private static func reserve(_ stores: StoreWorld) async throws -> UUID {
        try await stores.reserve().channel.id
    }

    @Test func `after a crash a repetition learns what was begun`() async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let store = IdempotencyStore(database: Database(stores.pool))
            let request = Self.request()
            // The process that began the request has crashed. The request's row says what the process created.
            let id = try await IdempotencyMark.$current.withValue(IdempotencyMark(request: request, now: stores.now)) {
                try await Self.reserve(stores)
            }
            let early = try await problem {
                try await store.inSteps(
                    Self.request(), waitLimit: .zero, now: { stores.now },
                    recover: { _ in throw Problem.inProgress }, work: { try await Self.work(stores) })
            }
            #expect(early == .idempotencyInProgress)
            // A process that looked before the crashed one began must not begin again.
            let mark = IdempotencyMark(request: request, now: stores.now)
            let second = try await problem {
                try await IdempotencyMark.$current.withValue(mark) { try await Self.reserve(stores) }
            }
            #expect(second == .idempotencyInProgress)
            let outcome = try await store.inSteps(
                Self.request(), waitLimit: .zero, now: { stores.now + 61 },
                recover: { Self.answer($0.uuidString, status: 201) }, work: { try await Self.work(stores) })
            #expect(outcome == KeptAnswer(status: 201, body: Array(id.uuidString.utf8), isReplay: true))
            let third = try await store.inSteps(
                Self.request(), waitLimit: .zero, now: { stores.now + 61 },
                recover: { _ in nil }, work: { try await Self.work(stores) })
            #expect(third == outcome)
        }
    }
}
