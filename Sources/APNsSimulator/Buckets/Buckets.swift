internal import APNsWire
internal import FoundationEssentials

/// All buckets of a simulator. A request needs room in every bucket that applies to it.
struct Buckets: Sendable {
    private(set) var all: [Bucket] = []
    private var made = 0

    /// The most buckets. There is a limit because every send checks all buckets.
    static let capacity = 100

    /// Adds a full bucket. If it has no name, it gets one.
    ///
    /// - Returns: the bucket as it was added.
    /// - Throws: if the name is taken, or there are too many buckets.
    mutating func add(_ bucket: Bucket, now: Date) throws(SimulatorError) -> Bucket {
        guard all.count < Self.capacity else {
            throw SimulatorError("There are \(Self.capacity) buckets already: remove some.")
        }
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

    /// Changes a bucket while requests come. Levels and counts stay.
    ///
    /// - Returns: the changed bucket; `nil` if there is none with this name.
    mutating func change(_ name: String, now: Date, _ body: (inout Bucket) -> Void) -> Bucket? {
        guard let index = all.firstIndex(where: { $0.name == name }) else { return nil }
        // Until now, levels rise at the old rate.
        all[index].fill(now: now)
        body(&all[index])
        return all[index]
    }

    /// - Returns: whether there was a bucket with this name.
    mutating func remove(_ name: String) -> Bool {
        let count = all.count
        all.removeAll { $0.name == name }
        return all.count < count
    }

    mutating func removeAll() { all.removeAll() }

    mutating func closed(connection: Int) {
        for index in all.indices where all[index].scope == .connection { all[index].forget(connection: connection) }
    }

    /// Takes a send from all buckets that apply to it, or from none.
    ///
    /// - Throws: 429 `TooManyRequests` if one of these buckets is empty.
    mutating func take(_ send: BucketSend, now: Date) throws(Refusal) {
        guard !all.isEmpty else { return }
        var taking: [(index: Int, key: Bucket.Key)] = []
        var refusing: [(index: Int, key: Bucket.Key)] = []
        for index in all.indices {
            guard let key = all[index].key(of: send) else { continue }
            if all[index].fill(key, now: now) { taking.append((index, key)) } else { refusing.append((index, key)) }
        }
        guard refusing.isEmpty else {
            let waits = refusing.compactMap { all[$0.index].refuse($0.key) }
            throw Refusal(.tooManyRequests, retryAfter: waits.max())
        }
        for (index, key) in taking { all[index].take(key) }
    }
}
