/// Lets one caller at a time through for each key, in the order they came.
actor Turnstile<Key: Hashable & Sendable> {
    /// Keys somebody is inside for, and who waits.
    private var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body` while nobody else is inside for `key`.
    func pass<Value: Sendable>(_ key: Key, _ body: @Sendable () async -> Value) async -> Value {
        if waiting[key] == nil {
            waiting[key] = []
        } else {
            await withCheckedContinuation { waiting[key]?.append($0) }
        }
        let value = await body()
        if let next = waiting[key]?.first {
            waiting[key]?.removeFirst()
            next.resume()
        } else {
            waiting[key] = nil
        }
        return value
    }
}
