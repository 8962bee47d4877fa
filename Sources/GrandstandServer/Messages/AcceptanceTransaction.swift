internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import Postgres

/// The transaction that makes broadcasts durable. After the commit it wakes the loops that have work.
struct AcceptanceTransaction: Sendable {
    let database: Database
    let wakeUps: WakeUps
    let types: ContentTypeCache
    /// Seconds after which an alert is too old, if its broadcast has no `expiresIn`.
    let alertFreshness: TimeInterval

    /// Accepts items in order, in one transaction, each as it came at its time.
    ///
    /// - Returns: for each item its broadcast; `nil`: the item was a state that changed nothing.
    func accept(_ items: [(intake: Intake, at: Date)]) async throws -> [Result<Contract.Broadcast?, Problem>] {
        let now = (items.map(\.at).max() ?? .distantPast).inMicroseconds
        let isJoined = database.isJoined
        let (results, topics) = try await database.transaction { connection in
            var acceptance = try await Outbox.lock(
                Set(items.map(\.intake.target)), types: types, alertFreshness: alertFreshness,
                comparing: items.contains(where: \.intake.comparesContents), on: connection, now: now)
            let results = items.map { item in
                Result { () throws(Problem) in try acceptance.accept(item.intake, at: item.at) }
            }
            WebhookNews.note(acceptance.occurrences, at: now)
            return (results, acceptance)
        } closing: { _, acceptance in
            let statements = Outbox.statements(acceptance)
            // A state that changes nothing writes nothing. So this commit only releases locks, and need not wait for
            // the disk.
            return statements.isEmpty && !isJoined ? ["set local synchronous_commit to off"] : statements
        } _: { work, _ in
            (work.0, work.1.topics)
        }
        database.afterCommit { wakeUps.send(topics) }
        return results
    }
}
