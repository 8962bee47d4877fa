internal import APNsWire
// Code that reads a problem needs its kind, so the module of the contract is re-exported.
@_exported public import GrandstandContract

/// An error for the sender of a request: what is wrong and what to do about it. It has the members of its body.
///
/// It becomes an RFC 9457 `application/problem+json` body.
@dynamicMemberLookup
package struct Problem: Error, Sendable, Equatable {
    /// The kinds of problems, each with a title and an HTTP status.
    package typealias Kind = Contract.ProblemKind

    package let kind: Kind
    /// Its title and status are those of the kind, but for the console's own titles, and 410 for a lookup of an event that
    /// is over.
    package private(set) var body: Contract.Problem
    /// Seconds after which the same request may succeed.
    package var retryAfter: Int?
    /// Seconds since the server could last confirm this answer; `nil`: it is current.
    package var age: Int?
    /// Seconds for which caches may give this answer to all callers with the same key; `nil`: they may not.
    package var maxAge: Int?
    /// The trouble with the database that caused the problem, if any.
    package var trouble: DatabaseTrouble?

    /// - Parameters:
    ///   - errors: only the first `FaultList.limit` are kept. If there are more, the detail says how many more.
    ///   - faults: the errors, if they were counted already.
    ///   - members: sets further members of the body; openapi.yaml says what each means.
    package init(
        _ kind: Kind, _ detail: String, errors: [FieldError] = [], faults: FaultList? = nil, apns: APNsRefusal? = nil,
        retryAfter: Int? = nil, maxAge: Int? = nil, with members: (inout Contract.Problem) -> Void = { _ in }
    ) {
        let faults = faults ?? FaultList(errors)
        self.kind = kind
        // Never change this base: clients compare the whole `type`, or the last part of `type`.
        body = Contract.Problem(
            type: "https://grandstand.dev/problems/" + kind.rawValue, title: kind.title, status: kind.status,
            detail: detail + faults.omissionNote, errors: faults.isEmpty ? nil : faults.listed,
            apns: apns.map { .init(status: $0.status, reason: $0.reason.spelling, requestId: $0.requestID) })
        members(&body)
        self.retryAfter = retryAfter
        self.maxAge = maxAge
    }

    package subscript<Member>(dynamicMember path: WritableKeyPath<Contract.Problem, Member>) -> Member {
        get { body[keyPath: path] }
        set { body[keyPath: path] = newValue }
    }

    /// The body for a request with this ID.
    package func body(named requestID: String) -> Contract.Problem {
        var body = body
        body.requestId = requestID
        return body
    }

    /// The wrong places in the request, at most `FaultList.limit`.
    package var errors: [FieldError] {
        get { body.errors ?? [] }
        set { body.errors = newValue.isEmpty ? nil : newValue }
    }

    /// `invalid-request` for one place in the request.
    ///
    /// - Parameter rule: what the place must contain.
    package static func invalid(_ detail: String, at pointer: String, _ rule: String) -> Problem {
        Problem(.invalidRequest, detail, errors: [FieldError(pointer: pointer, detail: rule)])
    }
}

extension Problem: CustomStringConvertible {
    /// For logs: the kind, the detail, the wrong places and Apple's reason.
    package var description: String {
        let places = errors.map { "\($0.pointer): \($0.detail)" }
        let apple = body.apns.map { ["APNs: \($0.status) \($0.reason)"] } ?? []
        return (["\(kind.rawValue): \(body.detail)"] + places + apple).joined(separator: "; ")
    }
}

/// One place in a request and what is wrong with it.
package typealias FieldError = Contract.FieldError
