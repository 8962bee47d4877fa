/// Runs one caller's work at a time for each key. Callers that come meanwhile do not run theirs: they get what the one
/// that runs finds.
actor SingleFlight<Key: Hashable & Sendable, Finding: Sendable> {
    /// The outcome of a call.
    enum Outcome<Value: Sendable>: Sendable {
        /// The caller's own work ran.
        case ran(Value)
        /// Another caller's work ran.
        case joined(Finding)
        /// Another caller's work runs, and this one did not want to wait.
        case busy
    }

    /// Keys whose work runs, and the callers that wait for it.
    private(set) var waiting: [Key: [CheckedContinuation<Finding, Never>]] = [:]

    /// Runs `body` unless another caller's work runs for `key`.
    func run<Value: Sendable>(
        _ key: Key, waits: Bool, _ body: @Sendable () async -> (value: Value, finding: Finding)
    ) async -> Outcome<Value> {
        if waiting[key] != nil {
            guard waits else { return .busy }
            return .joined(await withCheckedContinuation { waiting[key]?.append($0) })
        }
        waiting[key] = []
        let (value, finding) = await body()
        for waiter in waiting.removeValue(forKey: key) ?? [] { waiter.resume(returning: finding) }
        return .ran(value)
    }
}
