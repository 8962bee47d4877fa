/// Runs one caller's work at a time for each key. Callers that come meanwhile wait for it and do not run theirs.
actor SingleFlight<Key: Hashable & Sendable> {
    /// Keys whose work runs, and the callers that wait for it.
    private(set) var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body`, or waits for the end of another caller's work for `key`.
    func run(_ key: Key, _ body: @Sendable () async -> Void) async {
        if waiting[key] != nil {
            await withCheckedContinuation { waiting[key]?.append($0) }
            return
        }
        waiting[key] = []
        await body()
        for waiter in waiting.removeValue(forKey: key) ?? [] { waiter.resume() }
    }
}
