package import APNsWire
internal import FoundationEssentials
internal import JSON

// JSON that a person wrote, in files and for the control API (docs/simulator.md).

extension JSONValue {
    /// - Parameter place: where the text is from, for errors.
    init(_ text: [UInt8], at place: String, maximumValues: Int = .max) throws(SimulatorError) {
        do throws(JSONFault) {
            var parser = JSONParser(text, maximumValues: maximumValues)
            self = try parser.parse()
        } catch {
            throw SimulatorError("\(place) is not JSON that can be read: \(error.detail).")
        }
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

    /// - Throws: if there is a number, and it is not within the range.
    static func check<Number: Comparable>(
        _ number: Number?, in range: ClosedRange<Number>, at place: String
    ) throws(SimulatorError) {
        guard let number, !range.contains(number) else { return }
        throw SimulatorError("\(place): a number from \(range.lowerBound) to \(range.upperBound) is expected.")
    }
}

/// A word that a person writes. An error names the words that are allowed.
package protocol ControlWord: RawRepresentable<String>, CaseIterable, Codable {}

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
extension Route.Operation: ControlWord {}
extension Bucket.Scope: ControlWord {}
extension FaultAction.Name: ControlWord {}
extension FaultAction.Loss: ControlWord {}
extension FaultAction.GoAwayManner: ControlWord {}
extension FaultAction.TLSFailure: ControlWord {}
extension JournalEntry.Fate: ControlWord {}

extension Date {
    /// Seconds since 1970 with milliseconds, as the control API has times.
    var seconds: Double { (timeIntervalSince1970 * 1_000).rounded() / 1_000 }
}
