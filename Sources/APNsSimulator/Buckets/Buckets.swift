internal import APNsWire

/// All buckets of a simulator. A request needs room in every bucket that applies to it.
struct Buckets: Sendable {
    private(set) var all: [Bucket] = []
    private var made = 0

    /// Adds a full bucket. If it has no name, it gets one.
    ///
    /// - Returns: the bucket as it was added.
    /// - Throws: if the name is taken.
    mutating func add(_ bucket: Bucket, now: Double) throws(SimulatorError) -> Bucket {
        var bucket = bucket
        made += 1
        if bucket.name.isEmpty { bucket.name = "bucket-\(made)" }
        guard !all.contains(where: { $0.name == bucket.name }) else {
            throw SimulatorError(
                "There is a bucket \"\(bucket.name)\" already: change it, remove it, or choose another name.")
        }
        bucket.since = now
        all.append(bucket)
        return bucket
    }

    /// Raises all levels to the present.
    mutating func fill(now: Double) { for index in all.indices { all[index].fill(now: now) } }

    /// Changes a bucket while requests come. Levels and counts stay.
    ///
    /// - Returns: the changed bucket; `nil` if there is none with this name.
    mutating func change(_ name: String, now: Double, _ body: (inout Bucket) -> Void = { _ in }) -> Bucket? {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return nil }
        // Until now, levels rise at the old rate.
        all[index].fill(now: now)
        body(&all[index])
        return all[index]
    }

    /// - Returns: whether a bucket was removed.
    mutating func remove(where isRemoved: (Bucket) -> Bool) -> Bool {
        let count = all.count
        all.removeAll(where: isRemoved)
        return all.count < count
    }

    mutating func closed(connection: Int) {
        for index in all.indices where all[index].scope == .connection { all[index].forget(connection: connection) }
    }

    /// Takes a send from all buckets that apply to it, or from none. All other checks of the request have succeeded.
    ///
    /// - Parameter operation: `broadcast` or `device`.
    /// - Throws: 429 `TooManyRequests` if one of these buckets is empty.
    mutating func take(_ operation: Route.Operation, _ send: Bucket.Key, now: Double) throws(Refusal) {
        guard !all.isEmpty else { return }
        var taking: [(index: Int, key: Bucket.Key)] = []
        var refusing: [(index: Int, key: Bucket.Key)] = []
        for index in all.indices {
            guard let key = all[index].key(operation, send) else { continue }
            if all[index].fill(key, now: now) { taking.append((index, key)) } else { refusing.append((index, key)) }
        }
        guard refusing.isEmpty else {
            let waits = refusing.compactMap { all[$0.index].refuse($0.key) }
            throw Refusal(.tooManyRequests, retryAfter: waits.max())
        }
        for (index, key) in taking { all[index].take(key) }
    }
}
