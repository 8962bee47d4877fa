internal import Grandstand

/// A port got a call that the test does not expect. The router then answers 500, so a test of a refusal shows that no
/// port was called before the refusal.
///
/// Each fake port is a value. A test sets a closure for each call that it expects. All other calls throw `Unasked`.
struct Unasked: Error {
}

/// The answers of calls with no, one, two and three arguments that the test does not expect.
func unasked<Answer>() throws -> Answer { throw Unasked() }
func unasked<A, Answer>(_: A) throws -> Answer { throw Unasked() }
func unasked<A, B, Answer>(_: A, _: B) throws -> Answer { throw Unasked() }
func unasked<A, B, C, Answer>(_: A, _: B, _: C) throws -> Answer { throw Unasked() }

/// The signals that a running server listens to, without any signal: no change is announced, and no worker is woken.
/// The test can set the records of single events.
struct Silence: LookupSource, WakeSignals {
    var read: @Sendable ([EventKey]) async throws -> [EventKey: [LookupRecord]] = unasked

    func announcements() -> AsyncStream<LookupAnnouncement> { AsyncStream { $0.finish() } }
    func position() async throws -> LookupPosition { throw Unasked() }
    func changes(
        since position: LookupPosition
    ) async throws -> (changes: [LookupChange], position: LookupPosition) { throw Unasked() }
    func tidy() async throws { throw Unasked() }
    func records(of keys: [EventKey]) async throws -> [EventKey: [LookupRecord]] { try await read(keys) }
    func page(
        after: EventKey?, limit: Int
    ) async throws -> (records: [EventKey: [LookupRecord]], next: EventKey?) { throw Unasked() }

    func wakes(_ topic: WakeTopic) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
