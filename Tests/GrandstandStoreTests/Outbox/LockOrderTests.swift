internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// Lanes are locked before channels. If Apple does not know a channel, the settlement may have to record this in the
/// channel's row. The settlement has locked the lane before it writes that row.
@Suite(.timeLimit(.minutes(2)))
struct LockOrderTests {
    enum Writer: CaseIterable {
        case deletion, acceptance, withdrawal
    }

    @Test(arguments: Writer.allCases)
    func `a transaction that waits for a lane holds no lock on its channel`(_ writer: Writer) async throws {
        try await withStores { stores in
            _ = try await stores.apps.put(.sample())
            let draft = ChannelDraft(
                bundleID: try .sample(), environment: .production, storagePolicy: .noMessageStored, label: nil)
            let task = try await stores.channels.reserve(
                draft, now: stores.now, leasedUntil: stores.now.addingTimeInterval(10))
            let channel = try await stores.record(.created(channelID: "apple"), of: task)
            @Sendable func accept() async throws -> Broadcast {
                try await stores.outbox.accept(
                    [BroadcastIntake(.channel(channel.id), request: .update())], now: stores.now, plan: Stores.plan
                )[0].get()
            }
            let broadcast = try await accept()
            if writer == .deletion { try await stores.forceDeletion(of: channel) }
            let writing = try await stores.pool.transaction { connection in
                try await connection.query("select from lanes for no key update")
                let writing = Task {
                    switch writer {
                    case .deletion: _ = try await stores.deleted(channel)
                    case .acceptance: _ = try await accept()
                    case .withdrawal: _ = try await stores.outbox.cancel(broadcast.id, now: stores.now)
                    }
                }
                try await until("somebody waits for the lane") {
                    try await stores.count(
                        """
                        select count(*) as n from pg_stat_activity
                        where datname = current_database() and wait_event_type = 'Lock'
                        """) > 0
                }
                // With `nowait` the statement fails at once if another transaction holds the lock. Waiting for the lock
                // would be the deadlock.
                try await connection.query(
                    "select from channels where id = \(channel.id) for no key update nowait")
                return writing
            }
            try await writing.value
        }
    }
}
