internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Keeps the copy up to date. One task reads the changes. It learns of changes from announcements, from the journal,
/// and from this process itself. When everything must be read again, a second task reads everything at the same time,
/// so that changes are not delayed.
extension LookupReplica: Service {
    /// Runs until a graceful stop or a cancellation.
    func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.listen() }
                await self.keepUp(&group)
            }
        }
    }

    private func listen() async {
        for await announcement in store.announcements() {
            switch announcement {
            case .listening: state.withLock { $0.backlog.listening() }
            case .change(let change):
                state.withLock { $0.backlog.hear(change) }
                if change.subject == .keys { keys?.changed() }
            }
            bell.ring()
        }
    }

    /// Reads the changes that the journal and this process report, until the task is cancelled.
    func keepUp(_ group: inout DiscardingTaskGroup) async {
        var readAt = ContinuousClock.now
        var tidiedAt = ContinuousClock.now
        while !Task.isCancelled {
            if state.withLock({ $0.backlog.startReading() }) { group.addTask { await self.readEverything() } }
            let moment = now()
            do {
                let isDue = ContinuousClock.now - readAt >= settings.interval
                if isDue {
                    if ContinuousClock.now - readAt > .seconds(settings.journalSeconds / 2) {
                        state.withLock { $0.backlog.forgetPosition() }
                    }
                    try await readJournal()
                    readAt = .now
                }
                let hasRead = try await readChanged()
                if isDue {
                    confirm(moment)
                    confirming.worked()
                }
                if ContinuousClock.now - tidiedAt >= .seconds(settings.journalSeconds / 10) {
                    tidiedAt = .now
                    try await store.tidy()
                }
                // A single change is read at once. If further changes follow closely, they are read together.
                if hasRead { try await Task.sleep(for: settings.pace) }
            } catch {
                // A stop also makes queries fail; such errors are ignored.
                guard !Task.isCancelled else { return }
                confirming.failed(error)
                await pause()
                continue
            }
            if state.withLock(\.backlog.isIdle) { await bell.wait(atMost: settings.interval) }
        }
    }

    private func readJournal() async throws {
        guard let start = state.withLock(\.backlog.position) else { return }
        let (changes, end) = try await store.changes(since: start)
        let news = state.withLock { $0.backlog.find(changes, from: start, to: end) }
        guard !news.isEmpty else { return }
        if news.contains(where: { $0.subject == .keys }) { keys?.changed() }
        logger.debug("changes found in the journal before their announcement", metadata: ["count": "\(news.count)"])
    }

    /// Reads the events that have changed, in one round.
    ///
    /// - Returns: whether any event had changed.
    private func readChanged() async throws -> Bool {
        let round = state.withLock { $0.backlog.take() }
        var keys = round.keys[...]
        while !keys.isEmpty {
            let some = keys.prefix(settings.pageSize)
            do {
                let records = try await store.records(of: Array(some))
                for key in some { put(key, records[key] ?? [], in: round) }
            } catch {
                state.withLock { $0.backlog.giveBack(Array(keys)) }
                throw error
            }
            keys = keys.dropFirst(some.count)
        }
        release(round)
        return !round.keys.isEmpty
    }

    /// Lets callers continue that wait for changes before this round, which ended.
    func release(_ round: LookupBacklog.Round) {
        let answered = state.withLock { state in
            let isAnswered = { (waiting: Waiting) in waiting.after < round.number }
            defer { state.waiting.removeAll(where: isAnswered) }
            return state.waiting.filter(isAnswered)
        }
        for waiting in answered { waiting.continuation.yield() }
    }

    func put(_ key: EventKey, _ records: [LookupRecord], in round: LookupBacklog.Round) {
        // All these changes are made under one lock. So `readEverything` neither misses the change of the event nor
        // overwrites it, and the event counts as read only when its records are in memory.
        state.withLock { state in
            state.records[key] = records.isEmpty ? nil : records
            state.readMeanwhile?[key] = records
            lists.put(key, records)
            state.backlog.read(key, in: round)
        }
    }

    private func confirm(_ moment: Date) {
        state.withLock { if $0.backlog.isWhole { $0.confirmedAt = moment } }
    }

    // MARK: Everything

    private func readEverything() async {
        do {
            try await readPages()
            reading.worked()
        } catch {
            if !Task.isCancelled {
                reading.failed(error)
                await pause()
            }
            state.withLock { state in
                state.readMeanwhile = nil
                state.backlog.endReading(complete: false)
            }
        }
        bell.ring()
    }

    /// Reads everything into new memory, and replaces the old memory at the end. Lookups and announcements continue
    /// meanwhile.
    private func readPages() async throws {
        let moment = now()
        let position = try await store.position()
        state.withLock { state in
            state.readMeanwhile = [:]
            state.backlog.beginReading(at: position)
        }
        var records: [EventKey: [LookupRecord]] = [:]
        var after: EventKey?
        repeat {
            let page = try await store.page(after: after, limit: settings.pageSize)
            for (key, found) in page.records {
                let known = state.withLock { $0.records[key] }
                // If a record did not change, the old value is used, so that the record is in memory only once.
                records[key] = known == found ? known : found
            }
            after = page.next
        } while after != nil
        let count = replace(with: records, readAt: moment)
        logger.debug("events read", metadata: ["count": "\(count)"])
    }

    /// Replaces memory by what was read, except for the events that were read one by one meanwhile.
    ///
    /// - Returns: the number of events in memory.
    @discardableResult
    func replace(with read: consuming [EventKey: [LookupRecord]], readAt moment: Date) -> Int {
        var records = read
        var indexes = LookupLists.indexes(of: records)
        return state.withLock { state in
            for (key, newer) in state.readMeanwhile ?? [:] {
                records[key] = newer.isEmpty ? nil : newer
                LookupLists.put(key, newer, into: &indexes)
            }
            lists.replace(with: indexes)
            state.readMeanwhile = nil
            state.confirmedAt = moment
            state.backlog.endReading(complete: true)
            // The memory of the replaced value is freed after the lock is released.
            swap(&state.records, &records)
            return state.records.count
        }
    }

    private func pause() async { try? await Task.sleep(for: settings.interval) }
}
