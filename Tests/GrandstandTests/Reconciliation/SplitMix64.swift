internal import APNsWire
internal import FoundationEssentials

@testable internal import Grandstand

/// SplitMix64, so that each seed is a repeatable case.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ probability: Double) -> Bool { .random(in: 0..<1, using: &self) < probability }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &self)] }

    mutating func policy() -> StoragePolicy { pick(StoragePolicy.allCases) }

    mutating func uuid() -> UUID {
        let (high, low) = (next().bigEndian, next().bigEndian)
        let bytes = withUnsafeBytes(of: (high, low)) { Array($0) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// The time when every scene's list is requested, and when every world begins.
let sceneTime = Date(timeIntervalSince1970: 1_000_000)

extension Channel {
    /// A channel of the ledger with what a reconciliation looks at.
    init(
        id: UUID = UUID(), channelID: String? = nil, state: State, storagePolicy: StoragePolicy, eventKey: EventKey?,
        changedAt: Date
    ) {
        guard let bundleID = BundleID(rawValue: "com.example") else { preconditionFailure("not a bundle ID") }
        self.init(
            id: id, bundleID: bundleID, environment: .production, channelID: channelID, storagePolicy: storagePolicy,
            state: state, eventKey: eventKey, attempts: 0, createdAt: changedAt, changedAt: changedAt)
    }
}
