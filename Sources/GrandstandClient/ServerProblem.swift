public import Foundation
public import GrandstandContract
internal import JSON

/// A refusal of the server: the members of RFC 9457, and Grandstand's additional members.
@dynamicMemberLookup
public struct ServerProblem: Error, Sendable, Hashable {
    /// The problem as received. If the answer was not a problem document, there is no `type`, and `detail` has the
    /// beginning of the answer.
    public let problem: Contract.Problem
    /// Seconds after which the request may succeed, if the server says it.
    public var retryAfter: Int?

    /// The last part of the problem's `type`, e.g. `event-ended`; empty if the answer was not a problem document.
    public var slug: String { problem.type.split(separator: "/").last.map(String.init) ?? "" }

    /// The kind of problem; `nil` if this version does not know it, or the answer was not a problem document. Then use
    /// `slug` and `status`.
    public var kind: Contract.ProblemKind? { Contract.ProblemKind(rawValue: slug) }

    /// The HTTP status.
    public var status: Int { problem.status }

    /// The faults of single fields; empty if they are not known.
    public var errors: [Contract.FieldError] { problem.errors ?? [] }

    /// The problem's members.
    public subscript<Member>(dynamicMember path: KeyPath<Contract.Problem, Member>) -> Member { problem[keyPath: path] }

    /// A problem that is part of an answer, e.g. of one item of a batch.
    public init(_ problem: Contract.Problem, retryAfter: Int? = nil) {
        self.problem = problem
        self.retryAfter = retryAfter
    }

    /// Reads a problem document. If the body is not a problem document, makes a problem from the status and the first
    /// 200 bytes of the body.
    public init(_ answer: GrandstandClient.Answer) {
        let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
        self.init(
            (try? JSONValue(decoding: answer.body).decode(Contract.Problem.self))
                ?? Contract.Problem(type: "", title: "HTTP \(answer.status)", status: answer.status, detail: text),
            retryAfter: answer.retryAfter)
    }
}

extension ServerProblem: CustomStringConvertible {
    /// Title and detail on one line.
    public var description: String { problem.detail.isEmpty ? problem.title : "\(problem.title): \(problem.detail)" }
}

extension ServerProblem: LocalizedError {
    /// Title and detail on one line.
    public var errorDescription: String? { description }
}
