package import FoundationEssentials

/// The rows that registrations insert, change and delete.
package struct InstallationChanges<Secret: Equatable & Sendable>: Sendable {
    /// An installation registered a start token that another installation had. So both installations are on one phone.
    package struct Takeover: Sendable, Hashable {
        package var app: Int
        package var from: UUID
        package var to: UUID

        package init(app: Int, from: UUID, to: UUID) {
            self.app = app
            self.from = from
            self.to = to
        }
    }

    package typealias Record = InstallationRecord<Secret>

    package internal(set) var created: [(key: InstallationKey, record: Record)] = []
    package internal(set) var updated: [Record] = []
    /// Tokens whose rows are deleted, each with the number of its installation's row. `newTokens` has the tokens that
    /// replace them.
    package internal(set) var oldTokens: [(row: Int, type: String, token: DeviceToken)] = []
    package internal(set) var newTokens: [(key: InstallationKey, type: String, token: RegisteredToken)] = []
    package internal(set) var unfollowed: [(row: Int, topic: Topic)] = []
    package internal(set) var followed: [(key: InstallationKey, topic: Topic)] = []
    package internal(set) var takeovers: [Takeover] = []
    /// Installations that can take starts, and that are new or have a changed value on which their starts depend, such
    /// as topics or tokens. A start that is under way may have to include them.
    package internal(set) var followers: [(key: InstallationKey, record: Record)] = []

    init() {}

    /// - Parameter loaded: the record before; `nil`: the installation is new.
    mutating func add(_ record: Record, of key: InstallationKey, loaded: Record?) {
        if let loaded {
            if record.details.withoutTopics != loaded.details.withoutTopics || record.seenAt != loaded.seenAt
                || record.tokensPacedUntil != loaded.tokensPacedUntil
            {
                updated.append(record)
            }
        } else {
            created.append((key, record))
        }
        for type in Set(record.tokens.keys).union((loaded?.tokens ?? [:]).keys).sorted() {
            let (new, old) = (record.tokens[type], loaded?.tokens[type])
            guard new != old else { continue }
            if let old, let row = record.row { oldTokens.append((row, type, old.token)) }
            if let new { newTokens.append((key, type, new)) }
        }
        let known = loaded?.details.topics ?? []
        if let row = record.row {
            unfollowed += known.subtracting(record.details.topics).sorted().map { (row, $0) }
        }
        followed += record.details.topics.subtracting(known).sorted().map { (key, $0) }
    }
}

extension InstallationState {
    fileprivate var withoutTopics: InstallationState {
        var state = self
        state.topics = []
        return state
    }
}
