internal import Foundation
package import GrandstandClient

/// Synchronises an app's Live Activities with its server. The app creates one instance at launch, and calls `follow`
/// and `show`.
///
/// The instance watches the device's tokens, permissions and activities, and uploads the changes. Only the newest state
/// is uploaded. Changes that are not uploaded yet survive a crash, a kill and a lost network. Only ``show(_:)`` and
/// ``flush()`` wait for the network.
public actor LiveActivities {
    let host: any ActivityHost
    let server: any DeviceAPI
    let store: DeviceStore
    let time: ClientTime

    private(set) var record = DeviceRecord()
    /// Why the last change could not be written. If this is not `nil`, only the record in memory is up to date.
    private var storageFailure: String?
    /// Why the record or the identity cannot be read.
    private(set) var recordError: String?
    var identityError: String?
    var lockBackoff = Backoff()
    var planner = UploadPlanner()
    var identity: InstallationIdentity?
    /// The system's state at the last reading.
    var condition: HostCondition?

    /// The attempts in progress, by event and type, so that only one attempt for each event and type runs at a time.
    var attempts: [String: Task<StartResult, Never>] = [:]
    /// When to try each start again.
    var startBackoffs: [String: Backoff] = [:]

    /// The last reading of the system.
    var reading: Task<Void, Never>?
    /// Whether the system's state is not recorded yet, or could not be recorded.
    var mustReadHost = true
    private var running: [Task<Void, Never>] = []
    /// Rings when there may be something to do. A ring during a step is kept until the next rest.
    let bell = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    var flushes: [AsyncStream<Void>.Continuation] = []
    private var readers: [AsyncStream<LiveActivitiesStatus>.Continuation] = []
    private var lastStatus = LiveActivitiesStatus()

    /// An instance with another host and server, for tests and for systems without ActivityKit.
    package init(host: any ActivityHost, server: any DeviceAPI, store: DeviceStore, time: ClientTime) {
        self.host = host
        self.server = server
        self.store = store
        self.time = time
    }

    deinit { for task in running { task.cancel() } }

    /// Begins to watch the device and to upload. Call this method at each launch, including launches in the background,
    /// because a push may have started an activity. Later calls do nothing.
    public func start() {
        guard running.isEmpty else { return }
        let events = host.events()
        running.append(
            Task { [weak self] in
                for await event in events { await self?.handle(event) }
            })
        running.append(
            Task { [weak self] in
                await self?.readAndRetry()
                while !Task.isCancelled, let self { await self.step() }
            })
    }

    /// Stops watching and uploading, as if the app were killed. Returns when nothing is in progress that could start an
    /// activity or change the record.
    package func stop() async {
        for task in running { task.cancel() }
        for attempt in attempts.values { attempt.cancel() }
        for task in running { await task.value }
        for attempt in attempts.values { _ = await attempt.value }
        await reading?.value
    }

    /// Follows topics. They are saved at once, and uploaded as soon as possible.
    ///
    /// - Parameter variant: the variant of events that people want to see, e.g. `home`, for everything they follow;
    ///   `nil`: unchanged. For an event without this variant, people see the variant of their language, or the audience
    ///   without a variant.
    /// - Throws: `notATopic`, `notAVariant`, `tooManyTopics` or `locked`. After an error, no topic was added.
    public func follow(
        _ topics: some Sequence<String> & Sendable, variant: String? = nil
    ) throws(LiveActivitiesError) {
        let topics = Array(topics)
        if let odd = topics.first(where: { !TextRule.topic.accepts($0) }) { throw .notATopic(odd) }
        if let variant, !TextRule.variant.accepts(variant) { throw .notAVariant(variant) }
        try setTopics(variant: variant) { $0.formUnion(topics) }
    }

    /// Sets the variant of events that people want to see, for starts by push and for `show` without a variant.
    ///
    /// - Parameter variant: `nil`: people see the variant of their language, or the audience without a variant.
    /// - Throws: `notAVariant`; `locked`.
    public func setVariant(_ variant: String?) throws(LiveActivitiesError) {
        if let variant, !TextRule.variant.accepts(variant) { throw .notAVariant(variant) }
        try update { $0.changeFacts { $0.variant = variant } }
        wake()
    }

    /// Stops following topics. Topics that are not followed are ignored.
    ///
    /// - Throws: `locked`.
    public func unfollow(_ topics: some Sequence<String> & Sendable) throws(LiveActivitiesError) {
        try setTopics { $0.subtract(topics) }
    }

    private func setTopics(
        variant: String? = nil, _ change: (inout Set<String>) -> Void
    ) throws(LiveActivitiesError) {
        let isBack = try update { record throws(LiveActivitiesError) in
            var topics = Set(record.facts.topics ?? [])
            change(&topics)
            guard topics.count <= InstallationFacts.maxTopics else { throw LiveActivitiesError.tooManyTopics }
            let isBack = !topics.isEmpty && record.undoForget()
            record.changeFacts {
                $0.topics = Array(topics)
                $0.variant = variant ?? $0.variant
            }
            return isBack
        }
        if isBack { Task { await readAndRetry() } }
        wake()
    }

    /// Reads the system's state again, ends the pauses between attempts except the pauses that the server asked for,
    /// and repairs activities whose channel was replaced. An app on iOS need not call this method, because the same
    /// happens when the app comes to the foreground.
    public func refresh() async {
        await readAndRetry()
        await repairChannels()
    }

    /// Forgets this installation on the phone and on the server, for example when people sign out. The request is
    /// repeated until the server answers, also at later launches. If people follow a topic or show an activity before
    /// the answer, the request is cancelled. If they do so after the answer, a new installation is made.
    public func forget() throws(LiveActivitiesError) {
        try update { record throws(LiveActivitiesError) in
            record.wanted = [:]
            record.changeFacts { $0.topics = [] }
            record.isLeaving = true
        }
        wake()
    }

    /// Returns when the server has everything, has refused the rest, or cannot be reached now. Returns at once if the
    /// caller is cancelled. Call this method in background tasks.
    public func flush() async {
        guard !running.isEmpty else { return }
        let (end, flush) = AsyncStream.makeStream(of: Void.self)
        flushes.append(flush)
        wake()
        for await _ in end {}
    }

    /// The present status, and then each change. A slow reader gets only the newest status.
    public func statuses() -> AsyncStream<LiveActivitiesStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveActivitiesStatus.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(status)
        readers.append(continuation)
        return stream
    }

    /// The present status.
    public var status: LiveActivitiesStatus {
        var status = LiveActivitiesStatus()
        status.phase = phase
        status.installation = record.installation.flatMap(UUID.init)
        status.topics = record.facts.topics ?? []
        status.areActivitiesEnabled = (condition?.facts ?? record.facts).liveActivitiesEnabled ?? true
        status.activities = record.activities
        status.waitingFor = record.wanted.values.map(\.eventKey).sorted()
        status.storageFailure = storageFailure
        return status
    }

    private var phase: LiveActivitiesStatus.Phase {
        if let lock = recordError ?? identityError { return .locked(lock) }
        if record.isGone { return .forgotten }
        if let refusal = planner.keyRefusal { return .keyRefused("\(refusal)") }
        guard condition != nil else { return .idle }
        if mustReadHost { return .uploading }
        switch planner.next(record, at: time.uptime()) {
        case .send: return planner.lastError.map { .waiting($0) } ?? .uploading
        case .wait: return .waiting(planner.lastError ?? "")
        case .idle: return planner.rejection.map { .refused("\($0)") } ?? .upToDate
        }
    }

    /// Sends the status to all readers, if it has changed, and drops the readers that have left.
    func publish() {
        let status = status
        guard status != lastStatus else { return }
        lastStatus = status
        readers.removeAll { if case .terminated = $0.yield(status) { true } else { false } }
    }

    /// Changes the record on disk, then in memory. If the file cannot be written, the record changes only in memory.
    ///
    /// - Throws: the errors of `body`; `locked` if the record cannot be read.
    func update<Value>(
        _ body: (inout DeviceRecord) throws(LiveActivitiesError) -> Value
    ) throws(LiveActivitiesError) -> Value {
        do {
            let change = try store.change(after: storageFailure == nil ? nil : record) { record in
                try body(&record)
            }
            record = change.record
            storageFailure = change.failure
            recordError = nil
            publish()
            return change.value
        } catch let error as LiveActivitiesError {
            throw error
        } catch {
            recordError = "\(error)"
            publish()
            throw .locked("\(error)")
        }
    }
}
