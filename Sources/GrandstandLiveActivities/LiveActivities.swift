internal import Foundation
package import GrandstandClient

/// An app's Live Activities and its server, kept in accord: the app makes one at launch and says what people follow.
///
/// It watches the device's tokens, switches and activities, and uploads what changed: the newest state wins, nothing is
/// asked twice, and what was not uploaded yet survives a crash, a kill, and networks that come and go. No call waits for
/// the network but ``show(_:)`` and ``flush()``.
public actor LiveActivities {
    let host: any ActivityHost
    let server: any DeviceServer
    let credentials: any CredentialStore
    let time: ClientTime
    private let store: RecordStore

    private(set) var record = DeviceRecord()
    /// The last change could not be written: what is in memory counts.
    private var storageFailure: StorageFailure?
    /// Why the record, or the credential, cannot be read.
    private(set) var recordLock: String?
    var credentialLock: String?
    var lockBackoff = Backoff()
    var courier = Courier()
    var credential: InstallationCredential?
    /// The system's answers as of the last time it was asked.
    var condition: HostCondition?

    /// What is tried now, by event and type: nobody tries the same at once.
    var attempts: [String: Task<Result<ShowResult, LiveActivitiesError>, Never>] = [:]
    /// When to try a start again.
    var startBackoffs: [String: Backoff] = [:]

    /// The last time the system was asked.
    var looking: Task<Void, Never>?
    /// The record lacks something that the system said.
    var isUnseen = false
    private var running: [Task<Void, Never>] = []
    var wakeUp: CheckedContinuation<Void, Never>?
    var isWoken = false
    var flushes: [AsyncStream<Void>.Continuation] = []
    private var readers: [Int: AsyncStream<LiveActivitiesStatus>.Continuation] = [:]
    private var readersMade = 0
    private var lastStatus = LiveActivitiesStatus()

    /// Over a host and a server of one's choice, for tests and for systems that are not ActivityKit.
    package init(
        host: any ActivityHost, server: any DeviceServer, store: RecordStore, credentials: any CredentialStore,
        time: ClientTime
    ) {
        self.host = host
        self.server = server
        self.store = store
        self.credentials = credentials
        self.time = time
    }

    deinit { for task in running { task.cancel() } }

    /// Begins to watch the device and to upload. Call it once, at each launch, also one in the background: a push may have
    /// started an activity. Later calls do nothing.
    public func start() {
        guard running.isEmpty else { return }
        let events = host.events()
        running.append(
            Task { [weak self] in
                for await event in events { await self?.take(event) }
            })
        running.append(
            Task { [weak self] in
                await self?.look()
                while !Task.isCancelled, let self { await self.step() }
            })
    }

    /// Ends watching and uploading, as a kill would.
    package func stop() {
        for task in running { task.cancel() }
        for attempt in attempts.values { attempt.cancel() }
        wake()
    }

    /// Follows topics. They are kept at once and uploaded as soon as that is possible.
    ///
    /// - Parameter variant: the variant of events that people want to see, e.g. `home`, for all that they follow; left out,
    ///   it stays as it was. An event without it shows the variant of their language, or the one without a variant.
    /// - Throws: `notATopic`, `notAVariant`, `tooManyTopics`: then none of them is followed; `locked`.
    public func follow(
        _ topics: some Sequence<String> & Sendable, variant: String? = nil
    ) throws(LiveActivitiesError) {
        let topics = Array(topics)
        if let odd = topics.first(where: { !InstallationFacts.isTopic($0) }) { throw .notATopic(odd) }
        if let variant, !InstallationFacts.isVariant(variant) { throw .notAVariant(variant) }
        try setTopics(variant: variant) { $0.formUnion(topics) }
    }

    /// Sets the variant of events that people want to see, for starts by push and for `show` without one.
    ///
    /// - Parameter variant: `nil`: events show the variant of their language, or the one without a variant.
    /// - Throws: `notAVariant`; `locked`.
    public func setVariant(_ variant: String?) throws(LiveActivitiesError) {
        if let variant, !InstallationFacts.isVariant(variant) { throw .notAVariant(variant) }
        try update { $0.say { $0.variant = variant } }
        wake()
    }

    /// Follows topics no more. Those that are not followed are no error.
    ///
    /// - Throws: `locked`.
    public func unfollow(_ topics: some Sequence<String> & Sendable) throws(LiveActivitiesError) {
        let topics = Array(topics)
        try setTopics { $0.subtract(topics) }
    }

    private func setTopics(
        variant: String? = nil, _ change: (inout Set<String>) -> Void
    ) throws(LiveActivitiesError) {
        let isBack = try update { record throws(LiveActivitiesError) in
            var topics = Set(record.facts.topics)
            change(&topics)
            guard topics.count <= InstallationFacts.mostTopics else { throw LiveActivitiesError.tooManyTopics }
            let isBack = !topics.isEmpty && record.comeBack()
            record.say {
                $0.topics = Array(topics)
                $0.variant = variant ?? $0.variant
            }
            return isBack
        }
        if isBack { Task { await look() } }
        wake()
    }

    /// Says that a message was shown, where the content has the message's `aps.timestamp`. It is uploaded if the server
    /// asks this installation for receipts.
    public func shown(eventKey: String, timestamp: Int) {
        take(.shown(eventKey: eventKey, timestamp: timestamp, at: time.now()))
    }

    /// Asks the system for everything anew, and tries at once what waits. An app on iOS need not call it: it happens when
    /// the app comes to the front.
    public func refresh() async {
        await look()
        await heal()
    }

    /// Forgets this installation here and on the server, as when people sign out. Until the server has answered, it is
    /// asked again, at later launches, too. To follow a topic makes a new installation.
    public func forget() throws(LiveActivitiesError) {
        try update { record throws(LiveActivitiesError) in
            record.wanted = []
            record.say { $0.topics = [] }
            record.isLeaving = true
        }
        wake()
    }

    /// Returns once the server has everything, or refused what is left, or cannot be reached now; at once when the caller
    /// is cancelled. For background tasks.
    public func flush() async {
        guard !running.isEmpty else { return }
        let (end, flush) = AsyncStream.makeStream(of: Void.self)
        flushes.append(flush)
        wake()
        for await _ in end {}
    }

    /// How things stand, at once and at each change. A reader that is slow sees the newest.
    public func statuses() -> AsyncStream<LiveActivitiesStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveActivitiesStatus.self, bufferingPolicy: .bufferingNewest(1))
        readersMade += 1
        let number = readersMade
        readers[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.leave(number) }
        }
        continuation.yield(status)
        return stream
    }

    private func leave(_ reader: Int) { readers[reader] = nil }

    /// How things stand now.
    public var status: LiveActivitiesStatus {
        var status = LiveActivitiesStatus()
        status.phase = phase
        status.installation = record.installation
        status.topics = record.facts.topics
        status.areActivitiesEnabled = condition?.liveActivitiesEnabled ?? record.facts.liveActivitiesEnabled
        status.activities = record.activities.reduce(into: [:]) { $0[$1.key] = $1.value.snapshot(id: $1.key) }
        status.waitingFor = record.wanted.map(\.eventKey)
        status.storageFailure = storageFailure?.detail
        return status
    }

    private var phase: LiveActivitiesStatus.Phase {
        if let lock = recordLock ?? credentialLock { return .locked(lock) }
        if record.isGone { return .forgotten }
        if let refusal = courier.keyRefusal { return .keyRefused("\(refusal)") }
        guard condition != nil else { return .idle }
        if isUnseen { return .uploading }
        switch courier.next(record, at: time.uptime()) {
        case .send: return courier.trouble.map { .waiting($0) } ?? .uploading
        case .wait: return .waiting(courier.trouble ?? "")
        case .idle: return courier.rejection.map { .refused("\($0)") } ?? .upToDate
        }
    }

    /// Tells readers, where there is something to tell.
    func publish() {
        let status = status
        guard status != lastStatus else { return }
        lastStatus = status
        for reader in readers.values { reader.yield(status) }
    }

    /// Changes the record, on disk first.
    ///
    /// - Throws: what `body` throws; `locked`: nobody knows what the record is.
    func update<Value>(
        _ body: (inout DeviceRecord) throws(LiveActivitiesError) -> Value
    ) throws(LiveActivitiesError) -> Value {
        do {
            let change = try store.change(after: storageFailure == nil ? nil : record) { record in
                try body(&record)
            }
            record = change.record
            storageFailure = change.failure
            recordLock = nil
            publish()
            return change.value
        } catch let error as LiveActivitiesError {
            throw error
        } catch {
            recordLock = "\(error)"
            publish()
            throw .locked("\(error)")
        }
    }
}

extension ActivityEntry {
    func snapshot(id: String) -> ActivitySnapshot {
        ActivitySnapshot(
            id: id, attributesType: attributesType, eventKey: eventKey, state: state, updateToken: updateToken,
            channelID: channelID)
    }
}
