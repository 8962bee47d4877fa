internal import Foundation

/// Numbers, strings, and the Foundation types that `JSONDecoder` treats specially.
struct SchemaLeaf {
    /// The type in JSON.
    let type: String
    /// Values of the Swift type. The first four answer the runs of a type; the others may belong to no case of an enum.
    let samples: [Any]
    /// Further members of the schema, each with a comma before it.
    let limits: String

    private init(_ type: String, _ samples: [Any], format: String? = nil, limits: String = "") {
        self.type = type
        self.samples = samples
        self.limits = format.map { #","format":"\#($0)""# } ?? limits
    }

    var schema: String { #"{"type":"\#(type)"\#(limits)}"# }

    static func of(_ type: Any.Type) -> SchemaLeaf? {
        switch type {
        case is Bool.Type: Self("boolean", [false, true, false, true])
        case is String.Type: Self("string", ["", "a", "ä b", "0", "\u{1}no case"])
        case is Double.Type: Self("number", [0, 1.5, -1, 1e6, -12.25] as [Double])
        case is Float.Type: Self("number", [0, 1.5, -1, 1e6, -12.25] as [Float], format: "float")
        case is Decimal.Type: Self("number", [0, 1, 2, 3] as [Decimal], format: "decimal")
        case is Date.Type: Self("number", [0, 1, 2, 3].map { Date(timeIntervalSince1970: $0) })
        case is UUID.Type: Self("string", (0..<4).map { _ in UUID() }, format: "uuid")
        case is URL.Type:
            Self("string", (0..<4).map { URL(fileURLWithPath: "/\($0)") }, format: "uri-reference")
        default: (type as? any FixedWidthInteger.Type).map { integer($0) }
        }
    }

    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> Self {
        // The type annotation is necessary. Without the annotation, the array is an array of `Any`, and its 1 is an
        // `Int`.
        let samples: [Number] = [0, 1, .min, .max] + (2...127).map { Number($0) }
        return Self("integer", samples, limits: #","minimum":\#(Number.min),"maximum":\#(Number.max)"#)
    }
}

/// A type of the standard library that is made of other types.
protocol SchemaComposite {
    static func schema(_ recording: SchemaRecorder) throws -> String
    static func sample(_ run: TypeProbe) throws -> Self
}

extension Optional: SchemaComposite where Wrapped: Decodable {
    static func schema(_ recording: SchemaRecorder) throws -> String {
        SchemaRecorder.nullable(try recording.schema(of: Wrapped.self))
    }

    static func sample(_ run: TypeProbe) throws -> Self {
        run.isFilled ? try run.sample(Wrapped.self) : nil
    }
}

extension Array: SchemaComposite where Element: Decodable {
    static func schema(_ recording: SchemaRecorder) throws -> String {
        #"{"type":"array","items":\#(try recording.schema(of: Element.self))}"#
    }

    static func sample(_ run: TypeProbe) throws -> Self {
        run.isFilled ? [try run.sample(Element.self)] : []
    }
}

extension Set: SchemaComposite where Element: Decodable {
    static func schema(_ recording: SchemaRecorder) throws -> String {
        try [Element].schema(recording)
    }

    static func sample(_ run: TypeProbe) throws -> Self { Set(try [Element].sample(run)) }
}

extension Dictionary: SchemaComposite where Key: Decodable, Value: Decodable {
    static func schema(_ recording: SchemaRecorder) throws -> String {
        guard Key.self == String.self else {
            throw ContentSchema.Unrecordable(self, "has keys that are not strings.")
        }
        let values = try recording.schema(of: Value.self)
        return #"{"type":"object","additionalProperties":\#(values)}"#
    }

    static func sample(_ run: TypeProbe) throws -> Self {
        guard run.isFilled, let key = "a" as? Key else { return [:] }
        return [key: try run.sample(Value.self)]
    }
}

/// A type with raw values whose cases are known.
typealias SchemaCases = RawRepresentable & CaseIterable & Decodable
