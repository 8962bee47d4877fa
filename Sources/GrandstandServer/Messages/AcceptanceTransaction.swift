internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// The broadcasts or the states of one call.
struct AcceptCall: Sendable {
    enum Item: Sendable {
        case message(BroadcastIntake)
        case state(StateIntake)

        var target: BroadcastTarget {
            switch self {
            case .message(let intake): intake.target
            case .state(let intake): intake.target
            }
        }

        /// Whether it depends on contents that were accepted before.
        var comparesContents: Bool {
            switch self {
            case .message(let intake): intake.lacksContent
            case .state: true
            }
        }
    }

    let items: [Item]
    let now: Date
    let plan: DeliveryPlanning
}

/// The transaction that makes broadcasts durable. After the commit it wakes the loops that have work.
struct AcceptanceTransaction: Sendable {
    let database: Database
    let wakeUps: WakeUps
    let types: ContentTypeCache

    /// Accepts calls in order, in one transaction.
    ///
    /// - Returns: for each item its broadcast; `nil`: the item was a state that changed nothing.
    func accept(_ calls: [AcceptCall]) async throws -> [[Result<Broadcast?, Problem>]] {
        let now = (calls.map(\.now).max() ?? .distantPast).inMicroseconds
        let isJoined = database.isJoined
        let (results, topics) = try await database.transaction { connection in
            let items = calls.flatMap(\.items)
            var acceptance = try await PostgresOutbox.lock(
                Set(items.map(\.target)), types: types, comparing: items.contains(where: \.comparesContents),
                on: connection, now: now)
            let results = calls.map { call in
                call.items.map { item in
                    Result { () throws(Problem) -> Broadcast? in
                        switch item {
                        case .message(let intake): try acceptance.add(intake, at: call.now, plan: call.plan)
                        case .state(let intake): try acceptance.tell(intake, at: call.now, plan: call.plan)
                        }
                    }
                }
            }
            if !acceptance.occurrences.isEmpty { Database.ends?.add(acceptance.occurrences) }
            return (results, acceptance)
        } closing: { _, acceptance in
            let statements = PostgresOutbox.statements(acceptance)
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
