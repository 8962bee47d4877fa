internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The broadcasts of one call.
struct AcceptCall: Sendable {
    let items: [BroadcastIntake]
    let now: Date
    let plan: DeliveryPlanning
}

/// The transaction that makes broadcasts durable. Messages that may leave at once do so with the commit; for the rest
/// the dispatchers are woken.
struct AcceptanceTransaction: Sendable {
    let database: Database
    let wakeUps: WakeUps
    let departures: (any Departures)?

    /// Accepts calls in order, in one transaction.
    func accept(_ calls: [AcceptCall]) async throws -> [[Result<Broadcast, Problem>]] {
        let now = (calls.map(\.now).max() ?? .distantPast).inMicroseconds
        let (results, topics, departing) = try await database.transaction { connection in
            let items = calls.flatMap(\.items)
            var acceptance = try await PostgresOutbox.lock(Set(items.map(\.target)), on: connection, now: now)
            let results = calls.map { call in
                call.items.map { item in
                    Result { () throws(Problem) in try acceptance.add(item, at: call.now, plan: call.plan) }
                }
            }
            if let departures { acceptance.depart(by: departures) }
            return (results, acceptance)
        } closing: {
            PostgresOutbox.statements($1)
        } _: { work, rows in
            let (results, acceptance) = work
            // It is committed, so this may not fail any more: what cannot be read goes when its lease has ended.
            return (results, acceptance.topics, (try? PostgresOutbox.departing(acceptance, rows)) ?? [])
        }
        database.afterCommit {
            for (environment, deliveries) in Dictionary(grouping: departing, by: \.address.environment) {
                departures?.depart(deliveries, in: environment)
            }
            wakeUps.send(topics)
        }
        return results
    }
}
