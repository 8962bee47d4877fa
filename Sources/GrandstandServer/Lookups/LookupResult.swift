internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// The result of a lookup, as a label of the metric.
enum LookupResult: String, Sendable, CaseIterable {
    /// The answer names a channel.
    case found
    /// The caller's copy is still valid (304).
    case notModified = "not-modified"
    /// The event has no channel yet.
    case pending
    case over
    /// The event does not exist.
    case unknown
    /// The answer is the list of events to follow.
    case listed
    /// Neither the memory nor the database could answer.
    case unavailable
}

extension ServerMetrics {
    /// Counts a lookup that reached the routes. `LookupResponder` counts the lookups that it answers.
    func count(_ result: LookupResult?) { if let result { lookups(result)() } }

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
