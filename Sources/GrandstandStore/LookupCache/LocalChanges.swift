package import Grandstand
internal import Postgres
internal import Synchronization

/// The changes of lookups' answers by this process's own transactions, reported when they are over and before their
/// callers go on. The triggers that announce changes to other processes tell these sessions by notice: one round trip
/// less than reading the journal, and nothing for the transactions that change no answer.
package final class LocalChanges: Sendable {
    private let hearer = Mutex<(@Sendable ([LookupChange.Subject]) -> Void)?>(nil)

    package init() {}

    /// - Parameter hear: called with the subjects of each transaction that had some. It must not block.
    package func follow(_ hear: @escaping @Sendable ([LookupChange.Subject]) -> Void) {
        hearer.withLock { $0 = hear }
    }

    var notices: PostgresNotices {
        PostgresNotices(sqlState: PostgresSQLState(rawValue: "GS001")) { [self] messages in
            hearer.withLock(\.self)?(messages.compactMap(PostgresLookupSource.subject))
        }
    }

    /// The setting that a session needs so that the triggers notify it, whatever the role's own settings are.
    static let sessionSettings = ["grandstand.notices": "on", "client_min_messages": "notice"]
}
