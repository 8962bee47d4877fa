internal import APNsWire

/// A check that failed: carries the reason out of the checks to the one place that makes it an answer.
struct Refusal: Error, Hashable {
    var reason: APNsReason

    init(_ reason: APNsReason) { self.reason = reason }
}
