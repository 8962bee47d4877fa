/// The faults of a request: the first places, and how many more there are, so that the refusal of a body that is
/// nothing but faults is not larger than the body.
package struct FaultList: Sendable, Equatable {
    /// The number of places that are reported: a client that corrects them hears of the next ones then.
    package static let limit = 50

    package private(set) var listed: [FieldError] = []
    /// How many are not told.
    package private(set) var omitted = 0

    package init(_ errors: some Sequence<FieldError> = []) { for error in errors { append(error) } }

    package var isEmpty: Bool { listed.isEmpty }

    package mutating func append(_ error: FieldError) {
        if listed.count < Self.limit { listed.append(error) } else { omitted += 1 }
    }

    package mutating func append(contentsOf other: FaultList) {
        for error in other.listed { append(error) }
        omitted += other.omitted
    }

    /// The end of a refusal's detail.
    var note: String {
        switch omitted {
        case 0: ""
        case 1: " One more place is wrong and not listed."
        default: " \(omitted) more places are wrong and not listed."
        }
    }
}
