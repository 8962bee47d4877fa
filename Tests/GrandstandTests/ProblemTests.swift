internal import APNsWire
internal import Grandstand
internal import Testing

struct ProblemTests {
    @Test func `a problem is one readable line in a log`() {
        let problem = Problem(.storeUnavailable, "The database did not answer.", retryAfter: 1)
        #expect("\(problem)" == "store-unavailable: The database did not answer.")
        let refused = Problem(
            .invalidRequest, "Two places are wrong.",
            errors: [
                FieldError(pointer: "/name", detail: "is missing"), FieldError(pointer: "/kind", detail: "is empty"),
            ],
            apns: APNsRefusal(status: 429, reason: .tooManyRequests))
        #expect(
            "\(refused)"
                == "invalid-request: Two places are wrong.; /name: is missing; /kind: is empty; APNs: 429 TooManyRequests"
        )
    }
}
