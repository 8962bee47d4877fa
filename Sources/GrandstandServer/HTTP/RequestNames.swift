internal import Synchronization

/// IDs for requests whose callers sent none. They are unique within a process, and each process starts at a random
/// number.
///
/// The IDs need not be hard to guess. The system's random generator is not used, because each call of the generator is
/// a system call.
enum RequestNames {
    private static let seed = UInt64.random(in: .min ... .max)
    private static let count = Atomic<UInt64>(0)

    /// Up to 16 hexadecimal digits.
    static func next() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        // SplitMix64, a bijection: different numbers give different results.
        var word = seed &+ number &* 0x9e37_79b9_7f4a_7c15
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return String(word ^ (word >> 31), radix: 16)
    }
}
