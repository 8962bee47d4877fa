/// Lets one caller at a time through for each key. Those who come meanwhile do not follow: they get what that one found.
actor Turnstile<Key: Hashable & Sendable, Finding: Sendable> {
    /// What passing came to.
    enum Turn<Value: Sendable>: Sendable {
        /// The caller went through.
        case own(Value)
        /// Somebody else did.
        case other(Finding)
        /// Somebody else is inside, and the caller did not want to wait.
        case busy
    }

    /// Keys somebody is inside for, and who waits.
    private(set) var waiting: [Key: [CheckedContinuation<Finding, Never>]] = [:]

    /// Runs `body` unless somebody is inside for `key`.
    func pass<Value: Sendable>(
        _ key: Key, waits: Bool, _ body: @Sendable () async -> (value: Value, finding: Finding)
    ) async -> Turn<Value> {
        if waiting[key] != nil {
            guard waits else { return .busy }
            return .other(await withCheckedContinuation { waiting[key]?.append($0) })
        }
        waiting[key] = []
        let (value, finding) = await body()
        for waiter in waiting.removeValue(forKey: key) ?? [] { waiter.resume(returning: finding) }
        return .own(value)
    }
}
