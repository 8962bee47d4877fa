/// A 128-bit name for a text: two FNV-1a hashes with different start values.
enum FNV1a {
    static func name(of text: String) -> String {
        [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15].map { hash(text, $0) }.joined()
    }

    private static func hash(_ text: String, _ start: UInt64) -> String {
        let hash = text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
