#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON texts that an encoder must not change. The encoder writes a mark for each, and afterwards the mark is replaced
/// with the text.
///
/// `@unchecked` is safe, because an instance belongs to one call of one encoder. An encoder's `userInfo` requires
/// `Sendable`, and `Mutex` needs iOS 18.
final class JSONPieces: @unchecked Sendable {
    static let key = CodingUserInfoKey.named("grandstand.pieces")

    private var pieces: [Data] = []
    /// Random for each instance, so that no text in the user's data is mistaken for a mark.
    private let prefix = "raw:\(UUID().uuidString):"
    private static let digits = 8

    /// Stores a text and returns the mark for it.
    func mark(for bytes: Data) -> String {
        let text = String(pieces.count)
        pieces.append(bytes)
        return prefix + String(repeating: "0", count: Self.digits - text.count) + text
    }

    /// Replaces each mark in the encoder's text with its piece.
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
    /// This never fails, because any text is a valid key.
    static func named(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("\(name) is no key") }
        return key
    }
}
