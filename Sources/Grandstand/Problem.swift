package import FoundationEssentials
// Code that reads a problem needs its kind, so the module of the contract is re-exported.
@_exported public import GrandstandContract

/// An error for the sender of a request: what is wrong and what to do about it.
///
/// It becomes an RFC 9457 `application/problem+json` body.
package struct Problem: Error, Sendable, Equatable {
    /// The kinds of problems, each with a title and an HTTP status.
    package typealias Kind = Contract.ProblemKind

    package let kind: Kind
    /// The title of the kind. The console has its own titles for some problems.
    package var title: String
    /// The HTTP status of the kind. Exception: a lookup of an event that is over gives 410.
    package var status: Int
    /// A sentence about this request that says what to do.
    package var detail: String
    /// The wrong places in the request, at most `FaultList.limit`.
    package var errors: [FieldError]
    /// Apple's refusal that caused the problem, if any.
    package var apns: APNsRefusal?
    /// Additional members of the body, such as `limit` and `used` of a quota.
    package var members: [Member]
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
    package init(
        _ kind: Kind, _ detail: String, errors: [FieldError] = [], faults: FaultList? = nil,
        apns: APNsRefusal? = nil, members: [Member] = [], retryAfter: Int? = nil, maxAge: Int? = nil
    ) {
        let faults = faults ?? FaultList(errors)
        self.kind = kind
        title = kind.title
        status = kind.status
        self.detail = detail + faults.note
        self.errors = faults.listed
        self.apns = apns
        self.members = members
        self.retryAfter = retryAfter
        self.maxAge = maxAge
    }

    /// `invalid-request` for one place in the request.
    ///
    /// - Parameter rule: what the place must contain.
    package static func invalid(_ detail: String, at pointer: String, _ rule: String) -> Problem {
        Problem(.invalidRequest, detail, errors: [FieldError(pointer: pointer, detail: rule)])
    }

    /// An additional member of a problem's body; openapi.yaml says what each means.
    package enum Member: Sendable, Equatable {
        case limit(Int)
        case used(Int)
        case reserved(Int)
        case size(Int)
        case channels(Int)
        case sequence(Int)
        /// JSON text.
        case contentState([UInt8])
        case timestamp(Int)
        case variants([String])
        case id(UUID)
        case state(Channel.State)
    }
}

extension Problem: CustomStringConvertible {
    /// For logs: the kind, the detail, the wrong places and Apple's reason.
    package var description: String {
        let places = errors.map { "\($0.pointer): \($0.detail)" }
        let apple = apns.map { ["APNs: \($0.status) \($0.reason)"] } ?? []
        return (["\(kind.rawValue): \(detail)"] + places + apple).joined(separator: "; ")
    }
}

/// One place in a request and what is wrong with it.
package typealias FieldError = Contract.FieldError
