/// The rules of openapi.yaml for a value in the body of a request.
package indirect enum RequestShape: Sendable {
    /// Any value. It is read and checked later.
    case any
    case text(TextRule)
    /// An RFC 3339 time of the years 2000 to 2099.
    case time
    case integer(ClosedRange<Int>)
    /// One of these numbers.
    case numbers([Int])
    /// A number within the range of `Double`.
    case number
    case flag
    case words([String])
    case array(RequestShape, ClosedRange<Int>, isUnique: Bool)
    /// Any object: its bytes are kept.
    case raw
    /// An object whose member names the client chooses. The rule is for the names, the shape for the values.
    case map(TextRule, RequestShape)
    case object([Member], excluding: [Exclusion])
    /// An object of the first shape, or a text of the second shape.
    case objectOr(RequestShape, RequestShape)

    package struct Member: Sendable {
        package let name: String
        package let isRequired: Bool
        package let shape: RequestShape

        package init(_ name: String, isRequired: Bool = false, _ shape: RequestShape) {
            self.name = name
            self.isRequired = isRequired
            self.shape = shape
        }
    }

    /// Two members of which a request may have at most one.
    package struct Exclusion: Sendable {
        package let first: String
        package let second: String

        package init(_ first: String, _ second: String) {
            self.first = first
            self.second = second
        }
    }
}

/// The body of a request, or an object within one.
package protocol ContractRequest: Decodable, SendableMetatype {
    /// The rules of openapi.yaml for this object.
    static var shape: RequestShape { get }
}
