internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// Counts the results of lookups that reach the routes. `LookupResponder` counts the lookups that it answers.
struct LookupMeter: Sendable {
    private let counters: [LookupResult: @Sendable () -> Void]

    init(_ metrics: ServerMetrics) {
        counters = Dictionary(uniqueKeysWithValues: LookupResult.allCases.map { ($0, metrics.lookups($0)) })
    }

    func count(_ result: LookupResult?) { if let result { counters[result]?() } }

    /// Counts the answer of `body`: as `result`, as not modified, or as the problem it throws. An invalid request does
    /// not count as a lookup.
    func count(_ result: LookupResult, _ body: () async throws -> Response) async throws -> Response {
        do {
            let response = try await body()
            count(response.status == .notModified ? .notModified : result)
            return response
        } catch let problem as Problem {
            count(LookupResult(problem.kind))
            throw problem
        }
    }
}

extension LookupResult {
    /// - Returns: `nil` for a problem with the request itself.
    init?(_ kind: Problem.Kind) {
        switch kind {
        case .channelPending: self = .pending
        case .eventEnded: self = .over
        case .eventNotFound, .variantNotFound: self = .unknown
        case .storeUnavailable: self = .unavailable
        default: return nil
        }
    }
}
