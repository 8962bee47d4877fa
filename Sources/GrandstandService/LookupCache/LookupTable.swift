package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import Synchronization

/// Every event's lookup answers, ready to be sent: about 300 bytes for an event with one audience.
///
/// Answers are written when something changes, not when somebody asks; what time alone changes is chosen then. In shards,
/// each behind a lock of its own, so that neither readers nor a growing table keep each other waiting.
package final class LookupTable: Sendable {
    private final class Shard: Sendable {
        let slots: Mutex<LookupSlots>
        init(seed: UInt64) { slots = Mutex(LookupSlots(seed: seed)) }
    }

    private static let shardBits = 6

    private let shards: [Shard]
    private let seed: UInt64

    package init(seed: UInt64 = .random(in: .min ... .max)) {
        self.seed = seed
        shards = (0..<(1 << Self.shardBits)).map { _ in Shard(seed: seed) }
    }

    /// How many events are known.
    package var count: Int { shards.reduce(0) { $0 + $1.slots.withLock(\.count) } }

    /// The answer for an event in an app and environment; `nil` when it is not known here. The bundle ID matches without
    /// regard to case.
    package func answer(
        bundleID: UnsafeRawBufferPointer, environment: APNsEnvironment, key: UnsafeRawBufferPointer, now: Date
    ) -> LookupAnswer? {
        let hash = LookupSlots.hash(key, seed)
        guard let block = shard(hash).slots.withLock({ $0.block(key, hash) }) else { return nil }
        return LookupBlock.answer(block, bundleID, environment, now: now.microseconds)
    }

    /// Replaces all that is known of an event; `nil`: it is forgotten.
    package func replace(_ key: EventKey, with block: LookupBlock?) {
        var text = key.rawValue
        text.withUTF8 { key in
            let key = UnsafeRawBufferPointer(key)
            let hash = LookupSlots.hash(key, seed)
            shard(hash).slots.withLock { slots in
                if let block { slots.insert(block, key, hash) } else { slots.remove(key, hash) }
            }
        }
    }

    private func shard(_ hash: UInt64) -> Shard { shards[Int(hash >> (64 - Self.shardBits))] }
}
