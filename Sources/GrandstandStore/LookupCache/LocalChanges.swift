package import Grandstand
internal import Postgres
internal import Synchronization

/// Changes of lookups' answers by this process's own transactions. They are reported when the transaction is over and
/// before its caller continues. The triggers that announce changes to other processes send these sessions a notice.
/// That saves a round trip to the journal, and costs nothing for transactions that change no answer.
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
