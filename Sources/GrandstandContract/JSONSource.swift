internal import JSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The text that a decoder reads, for types that need the bytes of a value. Each array and object on the path to a
/// value is scanned only once.
///
/// `@unchecked` is safe, because an instance belongs to one call of one decoder. A decoder's `userInfo` requires
/// `Sendable`, and `Mutex` needs iOS 18.
final class JSONSource: @unchecked Sendable {
    static let key = CodingUserInfoKey.named("grandstand.source")

    private let text: Data
    /// The byte ranges of the values in each array or object that was scanned, by the path to the array or object.
    private var known: [[String]: [String: Range<Int>]] = [:]

    init(_ text: Data) { self.text = Data(text) }

    /// The bytes of the value at a decoder's coding path.
    ///
    /// - Throws: `DecodingError` when there is none.
    func bytes(at path: [any CodingKey]) throws -> Data {
        let fault = DecodingError.Context(codingPath: path, debugDescription: "There is no value")
        do {
            var range = 0..<text.count
            var walked: [String] = []
            for step in path {
                if known[walked] == nil { known[walked] = try Self.children(of: text[range], at: range.lowerBound) }
                guard let children = known[walked],
                    let next = children[step.stringValue] ?? step.intValue.flatMap({ children[String($0)] })
                else { throw DecodingError.valueNotFound(RawJSON.self, fault) }
                range = next
                walked.append(step.intValue.map(String.init) ?? step.stringValue)
            }
            return Data(text[range])
        } catch let error as JSONFault {
            throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: error.detail))
        }
    }

    /// The byte range of each member or element of a container, by its name or number.
    private static func children(of slice: Data, at offset: Int) throws(JSONFault) -> [String: Range<Int>] {
        var scanner = try JSONScanner(Array(slice), maximumDepth: 512)
        var children: [String: Range<Int>] = [:]
        let start = try scanner.start()
        switch start {
        case .array:
            var more = try scanner.enter(.array)
            while more {
                children[String(children.count)] = try value(&scanner, offset)
                more = try scanner.advance(in: .array)
            }
        case .object:
            var more = try scanner.enter(.object)
            while more {
                let name = try scanner.name()
                children[name] = try value(&scanner, offset)
                more = try scanner.advance(in: .object)
            }
        case .null, .bool, .number, .string: break
        }
        return children
    }

    private static func value(_ scanner: inout JSONScanner, _ offset: Int) throws(JSONFault) -> Range<Int> {
        let begin = scanner.index
        try scanner.skip(try scanner.start())
        return offset + begin..<offset + scanner.index
    }
}
