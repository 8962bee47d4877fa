// Who reads a problem reads its kind, so the contract comes with it.
@_exported public import GrandstandContract

/// Why a request is refused, for its sender: what happened and what to do about it.
///
/// Becomes an RFC 9457 `application/problem+json` body.
package struct Problem: Error, Sendable, Equatable {
    /// The kinds of refusal, each with its title and its HTTP status.
    package typealias Kind = Contract.ProblemKind

    package let kind: Kind
    /// The HTTP status: the kind's own, but 410 for a lookup of an event that is over.
    package var status: Int
    /// A sentence about this occurrence that says what to do.
    package var detail: String
    /// The places in the request that are wrong, `FaultList.limit` of them at most.
    package var errors: [FieldError]
    /// Apple's refusal behind it, if any.
    package var apns: APNsRefusal?
    /// Further members of the body, e.g. `limit` and `used` of a quota, in order.
    package var members: [Member]
    /// Seconds after which the same request may succeed.
    package var retryAfter: Int?
    /// Seconds since this could last be confirmed; `nil`: it holds now.
    package var age: Int?
    /// Seconds for which caches may give this answer again, to everybody with the same key; `nil`: they may not.
    package var maxAge: Int?
    /// What is wrong with the database, if that is the reason.
    package var trouble: DatabaseTrouble?

    /// - Parameter errors: may be more than are kept; the detail says how many are left out then.
    package init(
        _ kind: Kind, _ detail: String, errors: [FieldError] = [], apns: APNsRefusal? = nil,
        members: [(String, Value)] = [], retryAfter: Int? = nil, maxAge: Int? = nil
    ) {
        let faults = FaultList(errors)
        self.init(kind, detail, faults: faults, apns: apns, members: members, retryAfter: retryAfter)
        self.maxAge = maxAge
    }

    package init(
        _ kind: Kind, _ detail: String, faults: FaultList, apns: APNsRefusal? = nil,
        members: [(String, Value)] = [], retryAfter: Int? = nil
    ) {
        self.kind = kind
        status = kind.status
        self.detail = detail + faults.note
        errors = faults.listed
        self.apns = apns
        self.members = members.map { Member(name: $0.0, value: $0.1) }
        self.retryAfter = retryAfter
    }

    /// `invalid-request` for one place in the request.
    ///
    /// - Parameter rule: what was expected there.
    package static func invalid(_ detail: String, at pointer: String, _ rule: String) -> Problem {
        Problem(.invalidRequest, detail, errors: [FieldError(pointer: pointer, detail: rule)])
    }

    /// A member of a problem's body beyond RFC 9457's own.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// A value of such a member.
    package enum Value: Sendable, Equatable {
        case integer(Int)
        case string(String)
        case strings([String])
        /// JSON text.
        case json([UInt8])
    }
}

extension Problem: CustomStringConvertible {
    /// For logs: the kind and the detail, the places that are wrong, Apple's reason.
    package var description: String {
        let places = errors.map { "\($0.pointer): \($0.detail)" }
        let apple = apns.map { ["APNs: \($0.status) \($0.reason)"] } ?? []
        return (["\(kind.rawValue): \(detail)"] + places + apple).joined(separator: "; ")
    }
}

/// One place in a request and what is wrong with it.
package struct FieldError: Sendable, Equatable {
    /// RFC 6901 JSON Pointer into the body; a name such as `limit` for a query parameter.
    package var pointer: String
    package var detail: String

    package init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}
