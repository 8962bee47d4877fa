/// The first faults of a request, and the number of the others. So the refusal of a body full of faults stays small.
package struct FaultList: Sendable, Equatable {
    /// The most faults that are reported. A client that corrects them gets the next ones.
    package static let limit = 50

    package private(set) var listed: [FieldError] = []
    /// The number of faults that are not listed.
    package private(set) var moreCount = 0

    package init(_ errors: some Sequence<FieldError> = []) { for error in errors { append(error) } }

    package var isEmpty: Bool { listed.isEmpty }

    package mutating func append(_ error: FieldError) {
        if listed.count < Self.limit { listed.append(error) } else { moreCount += 1 }
    }

    package mutating func append(contentsOf other: FaultList) {
        for error in other.listed { append(error) }
        moreCount += other.moreCount
    }

    /// The sentence about omitted faults at the end of a refusal's detail.
    var omissionNote: String {
        switch moreCount {
        case 0: ""
        case 1: " One more place is wrong and not listed."
        default: " \(moreCount) more places are wrong and not listed."
        }
    }
}
