package import APNsWire
internal import JSON

// JSON that a person wrote, in files and for the control API (docs/simulator.md).

/// An error of the simulator: one line that says what is wrong and what to do.
package struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence, without a line break. A command prints it after `Error:`.
    package let description: String
    /// The status of the control API's answer.
    let status: Int

    /// - Parameter message: says what is wrong and what to do, in one line.
    package init(_ message: String, status: Int = 400) {
        description = message
        self.status = status
    }

    /// - Throws: if there is a number, and it is not within the range.
    static func check<Number: Comparable>(
        _ number: Number?, in range: ClosedRange<Number>, at place: String
    ) throws(SimulatorError) {
        guard let number, !range.contains(number) else { return }
        throw SimulatorError("\(place): a number from \(range.lowerBound) to \(range.upperBound) is expected.")
    }
}

extension JSONValue {
    /// - Parameter place: where the text is from, for errors.
    init(_ text: [UInt8], at place: String) throws(SimulatorError) {
        do throws(JSONFault) {
            var parser = JSONParser(text)
            self = try parser.parse()
        } catch {
            throw SimulatorError("\(place) is not JSON that can be read: \(error.detail).")
        }
    }

    /// A JSON text that is one object; `nil`: another text.
    init?(object text: [UInt8]) {
        guard let value = try? JSONValue(text, at: ""), case .object = value.kind else { return nil }
        self = value
    }

    /// The object `aps` of a push's body; `nil`: there is none.
    static func aps(_ body: [UInt8]) -> JSONValue? {
        guard let aps = JSONValue(object: body)?["aps"], case .object = aps.kind else { return nil }
        return aps
    }

    /// The text of an object.
    var object: JSONBytes? { if case .object = kind { JSONBytes(bytes) } else { nil } }

    /// The value of a number; `nil` if it is infinite as a Double, and could not be written as JSON again.
    var finite: Double? {
        if case .number(let text) = kind, let number = Double(text), number.isFinite { number } else { nil }
    }

    /// Reads a value. Every mistake is reported with its place, including unknown members.
    func read<Value: Decodable>(_ type: Value.Type = Value.self, at place: String) throws(SimulatorError) -> Value {
        do { return try decode(type, refusingOthers: true) } catch {
            throw (error as? DecodingError).map { SimulatorError($0, at: place) } ?? SimulatorError("\(error)")
        }
    }
}

extension SimulatorError {
    fileprivate init(_ error: DecodingError, at place: String) {
        let (path, detail): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "missing")
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context.codingPath, context.debugDescription)
            @unknown default: ([], "\(error)")
            }
        let names = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        self.init("\(place)\(names.joined()): \(detail).")
    }
}

extension KeyedDecodingContainer {
    /// Reads a number that may be left out.
    func number<Number: Comparable & Decodable>(
        _ key: Key, in range: ClosedRange<Number>
    ) throws -> Number? {
        guard let number = try decodeIfPresent(Number.self, forKey: key) else { return nil }
        guard range.contains(number) else {
            throw error(key, "a number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// An error at a member.
    ///
    /// - Parameter detail: without a full stop.
    func error(_ key: Key, _ detail: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [key], debugDescription: detail))
    }
}

/// A word that a person writes. An error names the words that are allowed.
package protocol ControlWord: RawRepresentable<String>, CaseIterable, Codable, Sendable {}

extension ControlWord {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let word = Self(rawValue: text) else {
            let all = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.fault("\(text.quotedJSON) is not one of \(all)")
        }
        self = word
    }
}

extension APNsEnvironment: ControlWord {}
extension StoragePolicy: ControlWord {}

/// JSON text that is passed on byte for byte.
package struct JSONBytes: Sendable, Hashable, Codable {
    /// The text.
    package var bytes: [UInt8]

    /// - Parameter bytes: JSON.
    package init(_ bytes: [UInt8] = Array("{}".utf8)) { self.bytes = bytes }

    /// Reads any value, without white space between its parts.
    package init(from decoder: any Decoder) throws { bytes = try JSONValue(from: decoder).compact }

    /// The text as a string.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Only the encoder of this project's JSON can write it.
    package func encode(to encoder: any Encoder) throws {
        guard let sink = encoder as? JSONTextEncoder else {
            throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "JSONTextEncoder is needed"))
        }
        sink.write(raw: bytes)
    }
}
