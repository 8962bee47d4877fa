package import APNsWire
internal import JSON

/// The functions of the control API that callers in the same process use, too. The state stays readable after the
/// simulator has stopped.
extension Simulator {
    // MARK: Requests

    /// The newest requests, the oldest first. There are at most `SimulatorOptions.journalCapacity`.
    package func journal() -> [JournalEntry] { access { memory, _ in memory.journal.entries } }

    /// Removes all requests from the journal.
    package func clearJournal() { access { memory, _ in memory.journal.removeAll() } }

    /// Waits until `count` matching requests are in the journal, including requests that are already there. A new
    /// request wakes the caller; nothing is polled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the simulator stops.
    @discardableResult
    package func awaitRequests(
        _ count: Int, where matches: @Sendable (JournalEntry) -> Bool = { _ in true }
    ) async throws -> [JournalEntry] {
        guard let found = await awaitRequests(count, within: nil, where: matches) else { throw CancellationError() }
        return found
    }

    /// - Returns: all that match if there are already enough, otherwise `count` entries; `nil` if the time is over
    ///   first, too.
    private func awaitRequests(
        _ count: Int, within limit: Duration?, where matches: @Sendable (JournalEntry) -> Bool
    ) async -> [JournalEntry]? {
        var found: [JournalEntry] = []
        var last = -1
        return await wait(within: limit) { memory, _ in
            let isFirst = last < 0
            found += memory.journal.entries(after: last).filter(matches)
            last = memory.journal.lastNumber
            guard found.count >= count else { return nil }
            return isFirst ? found : Array(found.prefix(count))
        }
    }

    private struct Entries: Encodable {
        var error: String?
        let entries: [JournalEntry]
    }

    /// Answers 200 with the newest `limit` entries that match. With `count`, it first waits for that many matching
    /// entries. After `timeout` seconds it answers 408 with the entries so far.
    func entries(_ query: JournalQuery) async throws -> ControlAnswer {
        try SimulatorError.check(query.limit, in: 0...1_000_000, at: "the query.limit")
        try SimulatorError.check(query.count, in: 1...1_000_000, at: "the query.count")
        try SimulatorError.check(query.timeout, in: 0...Self.longestWait, at: "the query.timeout")
        let timeout = query.timeout ?? 10
        func newest(_ entries: [JournalEntry]) -> [JournalEntry] { entries.suffix(query.limit ?? 1_000) }
        if let count = query.count,
            let found = await awaitRequests(count, within: .seconds(timeout), where: query.matches)
        {
            return ControlAnswer(Entries(entries: newest(found)))
        }
        let entries = journal().filter(query.matches)
        guard let count = query.count else { return ControlAnswer(Entries(entries: newest(entries))) }
        return ControlAnswer(
            Entries(
                error: "Only \(entries.count) of \(count) requests came within \(timeout) s.",
                entries: newest(entries)), status: 408)
    }

    // MARK: Apps and channels

    /// The app's channels in the order of their creation, with the messages that a device would get if it came online
    /// now. The bundle ID's case does not matter.
    package func channels(of bundleID: String, in environment: APNsEnvironment) -> [SimulatedChannel] {
        access { memory, now in
            (memory.apns.apps[.init(bundleID, environment)]?.sorted ?? []).map { $0.snapshot(at: now) }
        }
    }

    /// Turns an app's Broadcast capability on or off, as in Apple's developer portal. Turning it off deletes all
    /// channels of the app in both environments; they never come back.
    package func setBroadcastCapability(_ isOn: Bool, of bundleID: String) {
        access { memory, _ in memory.apns.setBroadcastCapability(isOn, of: bundleID) }
    }

    struct AppChange: Decodable {
        fileprivate var broadcastCapability: Bool?
        fileprivate var channelLimit: Int?
        fileprivate var environment: APNsEnvironment?
    }

    func change(app bundleID: String, _ change: AppChange) throws {
        try SimulatorError.check(change.channelLimit, in: 0...Int.max, at: "the body.channelLimit")
        if let isOn = change.broadcastCapability { setBroadcastCapability(isOn, of: bundleID) }
        guard let limit = change.channelLimit else { return }
        self.access { memory, _ in
            for environment in change.environment.map({ [$0] }) ?? APNsEnvironment.allCases {
                memory.apns.channelLimits[.init(bundleID, environment)] = limit
            }
        }
    }

    struct NewChannels: Decodable {
        fileprivate var storagePolicy: StoragePolicy?
        fileprivate var count: Int?
    }

    /// Adds channels regardless of the limit.
    func addChannels(_ new: NewChannels, to app: SimulatorState.AppKey) throws -> [String] {
        try SimulatorError.check(new.count, in: 1...APNsLimits.channels, at: "the body.count")
        return access { memory, now in
            (0..<(new.count ?? 1)).map { _ in
                memory.apns.addChannel(new.storagePolicy ?? .noMessageStored, to: app, now: now)
            }
        }
    }

    // MARK: Faults, buckets, quirks and the clock

    var faults: [Fault] { access { memory, _ in memory.faults.faults } }

    /// Adds the faults of a JSON script (docs/simulator.md).
    ///
    /// - Throws: `SimulatorError` that says what is wrong, and where. After an error, no fault of the script was added.
    package func addFaults(_ script: String) throws {
        try addScript(JSONValue(Array(script.utf8), at: "the script").read(at: "the script"))
    }

    func addScript(_ script: FaultBook.Script) throws {
        try access { memory, _ throws(SimulatorError) in try memory.faults.add(script) }
    }

    /// Removes a fault, and sends the answers that it withholds.
    package func removeFault(_ name: String) { removeFaults { $0.name == name } }

    func add(_ bucket: Bucket) throws -> Bucket {
        try access { memory, now throws(SimulatorError) in try memory.apns.buckets.add(bucket, now: now) }
    }

    struct BucketList: Encodable {
        fileprivate let now: Double
        fileprivate let buckets: [Bucket]
    }

    var buckets: BucketList {
        access { memory, now in
            memory.apns.buckets.raise(now: now)
            return BucketList(now: now, buckets: memory.apns.buckets.all)
        }
    }

    /// - Throws: 404.
    func bucket(_ name: String, change body: (inout Bucket) -> Void = { _ in }) throws -> Bucket {
        let bucket = access { memory, now in memory.apns.buckets.change(name, now: now, body) }
        return try Self.unwrap(bucket, "There is no bucket \"\(name)\".")
    }

    struct BucketQuery: Decodable {
        fileprivate var keys: Int?
    }

    /// The most keys in an answer.
    static func keys(_ limit: BucketQuery) throws -> Int {
        try SimulatorError.check(limit.keys, in: 0...1_000_000, at: "the query.keys")
        return limit.keys ?? 100
    }

    /// Sets a quirk: one variant of APNs' behaviour (`Quirks`).
    ///
    /// - Throws: `SimulatorError` for an unknown name or value, with a list of the known ones.
    package func setQuirk(_ name: String, to value: String) throws { try setQuirks([name: value]) }

    func setQuirks(_ wanted: [String: String]) throws {
        try access { memory, _ throws(SimulatorError) in
            var quirks = memory.apns.quirks
            for (name, value) in wanted { try quirks.set(name, to: value) }
            memory.apns.quirks = quirks
        }
    }

    struct Clock: Encodable {
        fileprivate let now: Double
        fileprivate let ahead: Double
    }

    var clock: Clock { access { memory, now in Clock(now: now, ahead: memory.clockOffset) } }

    struct ClockChange: Decodable {
        fileprivate let advance: Double
    }

    /// Moves the simulator's clock ahead, which shortens tests of things that take hours: expirations, stale dates, the
    /// life of tokens.
    func advance(_ change: ClockChange) throws {
        // At most a year.
        try SimulatorError.check(change.advance, in: 0...31_536_000, at: "the body.advance")
        self.access { memory, _ in
            memory.clockOffset += change.advance
            // Lock screens may have changed.
            memory.apns.devices.version += 1
        }
    }
}

extension SimulatorState {
    /// An app in the control API.
    struct ListedApp: Sendable, Encodable, WritesNulls {
        fileprivate let bundleId: String
        fileprivate let environment: APNsEnvironment
        fileprivate let channels: Int
        fileprivate let channelLimit: Int
        fileprivate let team: String?
        fileprivate let broadcastCapability: Bool

        static let leftOut: [String] = []
    }

    var listedApps: [ListedApp] {
        let keys = Set(apps.keys).union(owners.keys).union(channelLimits.keys)
        return keys.sorted { ($0.bundle, $0.environment) < ($1.bundle, $1.environment) }.map { key in
            ListedApp(
                bundleId: key.bundle, environment: key.environment, channels: apps[key]?.channels.count ?? 0,
                channelLimit: channelLimits[key] ?? channelLimit, team: owners[key],
                broadcastCapability: !capabilityOff.contains(key.bundle))
        }
    }
}
