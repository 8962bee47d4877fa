internal import Synchronization

/// Names for requests whose callers gave them none. No two of a process are equal; processes start at random places.
///
/// They need not be hard to guess, so they do not come from the system's generator: that is a system call each.
enum RequestNames {
    private static let seed = UInt64.random(in: .min ... .max)
    private static let count = Atomic<UInt64>(0)

    /// Up to 16 hexadecimal digits.
    static func next() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        // SplitMix64, which maps different numbers to different words.
        var word = seed &+ number &* 0x9e37_79b9_7f4a_7c15
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return String(word ^ (word >> 31), radix: 16)
    }
}
