package import Grandstand

/// A port got a call that the test does not expect. The router then answers 500, so a test of a refusal shows that no
/// port was called before the refusal.
///
/// Each fake port is a value. A test sets a closure for each call that it expects. All other calls throw `Unasked`.
package struct Unasked: Error {
    package init() {}
}

/// The answers of calls with no, one, two and three arguments that the test does not expect.
package func unasked<Answer>() throws -> Answer { throw Unasked() }
package func unasked<A, Answer>(_: A) throws -> Answer { throw Unasked() }
package func unasked<A, B, Answer>(_: A, _: B) throws -> Answer { throw Unasked() }
package func unasked<A, B, C, Answer>(_: A, _: B, _: C) throws -> Answer { throw Unasked() }

/// The signals that a running server listens to, without any signal: no change is announced, and no worker is woken.
/// The test can set the records of single events.
package struct Silence: LookupSource, WakeSignals {
    package var read: @Sendable ([EventKey]) async throws -> [EventKey: [LookupRecord]] = unasked

    package init() {}

    package func announcements() -> AsyncStream<LookupAnnouncement> { AsyncStream { $0.finish() } }
    package func position() async throws -> LookupPosition { throw Unasked() }
    package func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) { throw Unasked() }
    package func tidy() async throws { throw Unasked() }
    package func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] { try await read(keys) }
    package func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) { throw Unasked() }

    package func wakes(_ topic: WakeTopic) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
