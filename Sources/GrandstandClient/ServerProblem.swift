public import Foundation
public import GrandstandContract
internal import JSON

/// A refusal of the server: RFC 9457's members, and what Grandstand adds.
@dynamicMemberLookup
public struct ServerProblem: Error, Sendable, Hashable {
    /// As the server wrote it. An answer that was no problem document has no `type`, and its beginning as `detail`.
    public let problem: Contract.Problem
    /// Seconds until the request may succeed, where the server says so.
    public var retryAfter: Int?

    /// The last part of the problem's `type`, e.g. `event-ended`; empty when the answer was no problem document.
    public var slug: String { problem.type.split(separator: "/").last.map(String.init) ?? "" }

    /// What kind of problem it is; `nil` when this version does not know it, and of an answer that is no problem document:
    /// `slug` and `status` tell.
    public var kind: Contract.ProblemKind? { Contract.ProblemKind(rawValue: slug) }

    /// The HTTP status.
    public var status: Int { problem.status }

    /// What is wrong with single fields, where that is known.
    public var errors: [Contract.FieldError] { problem.errors ?? [] }

    /// The problem's members.
    public subscript<Member>(dynamicMember path: KeyPath<Contract.Problem, Member>) -> Member { problem[keyPath: path] }

    /// A problem out of an answer, as of one item of a batch.
    public init(_ problem: Contract.Problem, retryAfter: Int? = nil) {
        self.problem = problem
        self.retryAfter = retryAfter
    }

    /// What a server that is none says, for tests.
    package init(
        status: Int, slug: String, title: String, sequence: Int? = nil, contentState: Data? = nil,
        retryAfter: Int? = nil
    ) {
        self.init(
            Contract.Problem(
                type: slug.isEmpty ? "" : "https://grandstand.dev/problems/\(slug)", title: title, status: status,
                detail: "",
                sequence: sequence, contentState: contentState.flatMap { try? RawJSON(json: $0) }),
            retryAfter: retryAfter)
    }

    /// Reads an answer; one that is no problem document becomes a problem that says so.
    public init(_ answer: GrandstandClient.Answer) {
        let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
        self.init(
            (try? Contract.Problem(json: JSONValue(decoding: answer.body)))
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
