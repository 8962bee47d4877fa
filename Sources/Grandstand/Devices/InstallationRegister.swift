package import FoundationEssentials

/// Applies registrations that arrived together, one after the other, to the installations that were loaded. Pure: the
/// store loads the installations first and writes `changes` at the end.
///
/// A start token belongs to the installation that registered it last, in the same app and for the same type of
/// attributes. The old and the new installation are on one phone, which must not get a second activity. So the results
/// of the old installation's starts also count for the new one.
package struct InstallationRegister<Secret: Equatable & Sendable>: Sendable {
    package typealias Record = InstallationRecord<Secret>

    /// Identifies a start token by its app, its type of attributes and its bytes.
    private struct Place: Hashable {
        let app: Int
        let type: String
        let token: DeviceToken
    }

    private let loaded: [InstallationKey: Record]
    private var records: [InstallationKey: Record]
    private var holders: [Place: InstallationKey] = [:]
    /// Installations that have lost a token since the records were loaded.
    private var losers: [Place: [InstallationKey]] = [:]
    private var takeovers: Set<InstallationChanges<Secret>.Takeover> = []
    /// Installations that are new, or in which a value has changed that decides about starts.
    private var followers: Set<InstallationKey> = []
    /// Installations that are new, or differ from the loaded ones.
    package private(set) var changed: Set<InstallationKey> = []

    /// How many installations each app has. The key is the app's ID in the database. An app that is not in
    /// this dictionary has no limits.
    private var accounts: [Int: DeviceAccount]
    private let mostNew: Int?

    /// A repeated registration updates `seenAt` at most once in this many seconds.
    private static var day: TimeInterval { 86_400 }

    /// - Parameters:
    ///   - loaded: the installations that the registrations name, and those that hold a token that the registrations
    ///     name.
    ///   - accounts: the totals of each app; an app that is left out has no limits.
    ///   - mostNew: the most new installations of one app in an hour; `nil`: any number.
    package init(_ loaded: [InstallationKey: Record], accounts: [Int: DeviceAccount] = [:], mostNew: Int? = nil) {
        self.loaded = loaded
        self.accounts = accounts
        self.mostNew = mostNew
        records = loaded
        for (key, record) in loaded {
            for (type, token) in record.tokens {
                holders[Place(app: key.app, type: type, token: token.token)] = key
            }
        }
    }

    /// Stores the state that an installation's app reports. A repetition only updates `seenAt`, once a day.
    ///
    /// A state without a sequence leaves the known sequence as it is.
    ///
    /// - Returns: whether the installation is new.
    /// - Throws: `wrong-installation-secret`; `stale-installation` for a lower sequence than the known one;
    ///   `rate-limited` beyond a bound of `DeviceAccount` or `TokenPace`.
    package mutating func put(
        _ state: InstallationState, of key: InstallationKey, secret: Secret, at now: Date
    ) throws(Problem) -> Bool {
        guard let known = records[key] else {
            let new = Record(row: nil, secret: secret, state: state, tokens: [:], seenAt: now)
            try admit(state, of: key, in: new, isNew: true, at: now)
            return true
        }
        guard known.secret == secret else { throw Problem.wrongInstallationSecret }
        if let sequence = state.sequence, let newest = known.details.sequence, sequence < newest {
            throw Problem(
                .staleInstallation,
                "The sequence \(sequence) is older than \(newest), which is known. Nothing was changed; send the whole "
                    + "state with a higher one.",
                members: [.sequence(newest)])
        }
        var state = state
        state.sequence = state.sequence ?? known.details.sequence
        if state == known.state, known.tokens.values.allSatisfy({ $0.suspectSince == nil }) {
            let seenAt = seen(known, at: now)
            guard seenAt != known.seenAt else { return false }
            records[key]?.seenAt = seenAt
            changed.insert(key)
            return false
        }
        try admit(state, of: key, in: known, isNew: false, at: now)
        return false
    }

    private mutating func admit(
        _ state: InstallationState, of key: InstallationKey, in record: Record, isNew: Bool, at now: Date
    ) throws(Problem) {
        var record = record
        record.tokensPacedUntil = try TokenPace.take(
            record.newTokens(state.startTokens), record.tokensPacedUntil, at: now)
        if isNew { try accounts[key.app]?.create(mostNew: mostNew, at: now) }
        replace(record, with: state, of: key, at: now)
    }

    private func seen(_ record: Record, at now: Date) -> Date {
        now.timeIntervalSince(record.seenAt) >= Self.day ? now : record.seenAt
    }

    private mutating func replace(
        _ old: Record, with state: InstallationState, of key: InstallationKey, at now: Date
    ) {
        let tokens = old.tokens(registering: state.startTokens, at: now)
        records[key] = Record(
            row: old.row, secret: old.secret, state: state, tokens: tokens, seenAt: seen(old, at: now),
            tokensPacedUntil: old.tokensPacedUntil)
        changed.insert(key)
        for (type, token) in old.tokens where tokens[type]?.token != token.token {
            let place = Place(app: key.app, type: type, token: token.token)
            holders[place] = nil
            losers[place] = nil
        }
        for (type, token) in tokens { take(Place(app: key.app, type: type, token: token.token), by: key) }
        if records[key]?.needsStartCheck(comparedTo: loaded[key]) ?? false { followers.insert(key) }
    }

    private mutating func take(_ place: Place, by key: InstallationKey) {
        if let holder = holders[place], holder != key {
            records[holder]?.tokens[place.type] = nil
            changed.insert(holder)
            losers[place, default: []].append(holder)
            for loser in losers[place, default: []] where loser != key {
                takeovers.insert(.init(app: key.app, from: loser.id, to: key.id))
            }
        }
        holders[place] = key
    }

    /// The changes to write.
    package var changes: InstallationChanges<Secret> {
        var changes = InstallationChanges<Secret>()
        let names = changed.sorted { ($0.app, $0.id.uuidString) < ($1.app, $1.id.uuidString) }
        for key in names {
            guard let record = records[key] else { continue }
            changes.add(record, of: key, loaded: loaded[key])
            if followers.contains(key), record.details.takesStarts { changes.followers.append((key, record)) }
        }
        changes.takeovers = takeovers.sorted { ($0.app, $0.to.uuidString) < ($1.app, $1.to.uuidString) }
        return changes
    }
}

extension InstallationRecord {
    /// Whether the installation is new, or a value has changed that decides about starts.
    fileprivate func needsStartCheck(comparedTo old: InstallationRecord?) -> Bool {
        guard let old else { return true }
        return details.topics != old.details.topics || tokens != old.tokens
            || details.systemVersion != old.details.systemVersion
            || details.liveActivitiesEnabled != old.details.liveActivitiesEnabled
    }
}

extension Problem {
    /// The error for a secret other than the one of the first registration.
    package static let wrongInstallationSecret = Problem(
        .wrongInstallationSecret,
        "This installation was registered with another secret. Send the one of its first registration, or register anew "
            + "under another UUID.")
}
