/// A name for a text: two FNV-1a hashes with different start values.
enum FNV1a {
    static func name(of text: String) -> String {
        let starts: [UInt64] = [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15]
        let hashes = starts.map { text.utf8.reduce($0) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
        return hashes.map { String($0, radix: 16) }.joined(separator: "-")
    }
}
