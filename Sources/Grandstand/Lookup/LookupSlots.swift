/// Blocks by their event's key: open addressing with linear probing, eight bytes for a slot.
///
/// The caller brings the hash, so that it is made once for the shard and the slot.
package struct LookupSlots: Sendable {
    /// An empty array is a vacant slot. Their number is a power of two.
    private var slots: [[UInt8]] = Array(repeating: [], count: 8)
    private let seed: UInt64
    /// How many blocks there are.
    package private(set) var count = 0

    /// - Parameter seed: of the hashes it will be given.
    package init(seed: UInt64) { self.seed = seed }

    /// The block of a key.
    package func block(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> [UInt8]? {
        let index = index(of: key, hash)
        return slots[index].isEmpty ? nil : slots[index]
    }

    /// Puts the block in the place of what the key had.
    package mutating func insert(_ block: LookupBlock, _ key: UnsafeRawBufferPointer, _ hash: UInt64) {
        let index = index(of: key, hash)
        if slots[index].isEmpty { count += 1 }
        slots[index] = block.bytes
        // Probes stay short up to three quarters.
        if count * 4 > slots.count * 3 { grow() }
    }

    /// Forgets the key.
    package mutating func remove(_ key: UnsafeRawBufferPointer, _ hash: UInt64) {
        var hole = index(of: key, hash)
        guard !slots[hole].isEmpty else { return }
        slots[hole] = []
        count -= 1
        // Whoever was pushed past the hole moves back, so that no probe ends too early.
        var index = next(hole)
        while !slots[index].isEmpty {
            let home = Self.home(of: slots[index], seed) & (slots.count - 1)
            if (index - home) & (slots.count - 1) >= (index - hole) & (slots.count - 1) {
                slots.swapAt(hole, index)
                hole = index
            }
            index = next(index)
        }
    }

    private mutating func grow() {
        let blocks = slots
        slots = Array(repeating: [], count: blocks.count * 2)
        for block in blocks where !block.isEmpty {
            var index = Self.home(of: block, seed) & (slots.count - 1)
            while !slots[index].isEmpty { index = next(index) }
            slots[index] = block
        }
    }

    /// Where the key's block is, or would be.
    private func index(of key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while !slots[index].isEmpty, !LookupBlock.isBlock(slots[index], of: key) { index = next(index) }
        return index
    }

    private func next(_ index: Int) -> Int { (index + 1) & (slots.count - 1) }

    private static func home(of block: [UInt8], _ seed: UInt64) -> Int {
        block.withUnsafeBytes { bytes in
            Int(truncatingIfNeeded: hash(UnsafeRawBufferPointer(rebasing: bytes[1...Int(bytes[0])]), seed))
        }
    }

    /// FNV-1a, stirred once more: the table looks at the low bits, the choice of the shard at the high ones.
    package static func hash(_ key: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
        var hash = FNV.basis ^ seed
        for byte in key { hash = FNV.next(hash, byte) }
        return (hash ^ (hash >> 32)) &* 0x9e37_79b9_7f4a_7c15
    }
}
