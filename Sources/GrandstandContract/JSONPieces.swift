#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON texts that an encoder must not touch: it writes a mark for each, and the mark's place is filled afterwards.
///
/// Unchecked: it belongs to one call of one encoder. An encoder's `userInfo` asks for `Sendable`, and `Mutex` needs iOS 18.
final class JSONPieces: @unchecked Sendable {
    static let key = CodingUserInfoKey.named("grandstand.pieces")

    private var pieces: [Data] = []
    /// Drawn anew each time, so that no text of the user's is taken for a mark.
    private let prefix = "raw:\(UUID().uuidString):"
    private static let digits = 8

    /// What stands for a text until it is filled in.
    func mark(for bytes: Data) -> String {
        let text = String(pieces.count)
        pieces.append(bytes)
        return prefix + String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// The encoder's text with the pieces in the places of their marks.
    func fill(_ text: Data) -> Data {
        guard !pieces.isEmpty else { return text }
        let opening = Data(("\"" + prefix).utf8)
        var filled = Data()
        var rest = text[...]
        while let range = rest.firstRange(of: opening) {
            let end = range.upperBound + Self.digits
            guard let number = Int(String(decoding: rest[range.upperBound..<end], as: UTF8.self)) else { break }
            filled += rest[..<range.lowerBound]
            filled += pieces[number]
            rest = rest[(end + 1)...]
        }
        return filled + rest
    }
}

extension CodingUserInfoKey {
    /// Any text is a key.
    static func named(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("\(name) is no key") }
        return key
    }
}
