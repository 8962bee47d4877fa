internal import FoundationEssentials
internal import Grandstand
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Keeps the copy up to date with three tasks that do not wait for each other. One listens to announcements, one reads
/// changed events and the journal, and one reads everything when that is necessary.
extension LookupReplica: Service {
    /// Runs until a graceful stop or until cancelled.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.listen() }
                group.addTask { await self.keepUp() }
                group.addTask { await self.rebuildWhenNeeded() }
                await group.waitForAll()
            }
        }
    }

    private func listen() async {
        for await announcement in source.announcements() {
            switch announcement {
            case .listening:
                backlog.withLock { $0.listening() }
                keys?.changed()
                rebuilderBell.ring()
            case .change(let change):
                backlog.withLock { $0.hear(change) }
                notice(change)
                readerBell.ring()
            }
        }
    }

    // MARK: One event after the other

    private func keepUp() async {
        var readAt = ContinuousClock.now
        var tidiedAt = ContinuousClock.now
        while !Task.isCancelled {
            let moment = now()
            do {
                let isDue = ContinuousClock.now - readAt >= settings.interval
                if isDue {
                    if ContinuousClock.now - readAt > .seconds(settings.journalSeconds / 2) { startAnew() }
                    try await readJournal()
                    readAt = .now
                }
                let asOf = backlog.withLock(\.position)?.asOf
                let hasRead = try await readChanged()
                if isDue {
                    confirm(asOf.map { min($0, moment) } ?? moment)
                    confirming.worked()
                }
                if ContinuousClock.now - tidiedAt >= .seconds(settings.journalSeconds / 10) {
                    tidiedAt = .now
                    try await source.tidy()
                }
                // A single change is read at once. Changes that follow closely are read together.
                if hasRead { try await Task.sleep(for: settings.pace) }
            } catch {
                // Queries also fail because of a stop; such errors are ignored.
                guard !Task.isCancelled else { return }
                confirming.failed(error)
                await pause()
                continue
            }
            if backlog.withLock(\.keys.isEmpty) { await readerBell.wait(atMost: settings.interval) }
        }
    }

    private func readJournal() async throws {
        guard let start = backlog.withLock(\.position) else { return }
        let (changes, end) = try await source.changes(since: start)
        let news = backlog.withLock { $0.find(changes, from: start, to: end) }
        news.forEach(notice)
        if !news.isEmpty {
            logger.debug("changes found in the journal before their announcement", metadata: ["count": "\(news.count)"])
        }
    }

    /// - Returns: whether an event had changed.
    private func readChanged() async throws -> Bool {
        var keys = backlog.withLock { $0.take() }[...]
        // Take the keys first. An event that is marked later is in the backlog again.
        let reading = marks.reading()
        let isWorthwhile = !keys.isEmpty
        while !keys.isEmpty {
            let some = Array(keys.prefix(settings.pageSize))
            do {
                put(some, try await source.records(of: some))
                marks.remove(some, after: reading)
            } catch {
                backlog.withLock { $0.giveBack(Array(keys)) }
                throw error
            }
            keys = keys.dropFirst(some.count)
        }
        return isWorthwhile
    }

    private func put(_ keys: [EventKey], _ records: [EventKey: [LookupRecord]]) {
        for key in keys {
            // Everything under one lock, so that `rebuild` neither misses the change nor overwrites it.
            state.withLock { state in
                state.records[key] = records[key]
                state.readMeanwhile?[key] = records[key] ?? []
                lists.put(key, records[key] ?? [])
            }
        }
    }

    private func confirm(_ moment: Date) {
        guard backlog.withLock(\.isWhole) else { return }
        state.withLock { $0.confirmedAt = moment }
        keys?.confirmed(at: moment)
    }

    private func notice(_ change: LookupChange) {
        switch change.subject {
        case .event: break
        case .everything: rebuilderBell.ring()
        case .keys: keys?.changed()
        }
    }

    func startAnew() {
        backlog.withLock { $0.forgetPosition() }
        rebuilderBell.ring()
    }

    // MARK: Everything

    private func rebuildWhenNeeded() async {
        while !Task.isCancelled {
            if backlog.withLock(\.needsReading) {
                do {
                    try await rebuild()
                    reading.worked()
                } catch {
                    guard !Task.isCancelled else { return }
                    reading.failed(error)
                    await pause()
                }
            } else {
                await rebuilderBell.wait(atMost: .seconds(60))
            }
        }
    }

    /// Reads everything into new memory, then replaces the old. Lookups and announcements continue meanwhile.
    private func rebuild() async throws {
        let moment = now()
        let position = try await source.position()
        var records: [EventKey: [LookupRecord]] = [:]
        state.withLock { $0.readMeanwhile = [:] }
        backlog.withLock { $0.beginReading(at: position) }
        do {
            var after: EventKey?
            repeat {
                let page = try await source.page(after: after, limit: settings.pageSize)
                for (key, found) in page.records {
                    let known = state.withLock { $0.records[key] }
                    // If a record did not change, the old value is used, so that memory has it only once.
                    records[key] = known == found ? known : found
                }
                after = page.next
            } while after != nil
        } catch {
            state.withLock { $0.readMeanwhile = nil }
            backlog.withLock { $0.endReading(complete: false) }
            throw error
        }
        var indexes = LookupLists.indexes(of: records)
        let count = state.withLock { state in
            for (key, newer) in state.readMeanwhile ?? [:] {
                records[key] = newer.isEmpty ? nil : newer
                LookupLists.put(key, newer, into: &indexes)
            }
            lists.replace(with: indexes)
            state.readMeanwhile = nil
            state.confirmedAt = position.asOf.map { min($0, moment) } ?? moment
            // The memory of the replaced value is freed after the lock.
            swap(&state.records, &records)
            return state.records.count
        }
        backlog.withLock { $0.endReading(complete: true) }
        logger.debug("events read", metadata: ["count": "\(count)"])
    }

    private func pause() async { try? await Task.sleep(for: settings.interval) }
}
