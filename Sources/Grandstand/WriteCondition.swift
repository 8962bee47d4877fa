/// A write's precondition (RFC 9110, 13.1), so that two writers do not overwrite each other's changes unnoticed.
package enum WriteCondition: Sendable, Hashable {
    case none
    /// `If-None-Match: *`: nothing exists yet.
    case absent
    /// `If-Match: *`: something exists.
    case present
    /// `If-Match` with the tags of versions: one of them is the present version.
    case versions(Set<Int>)

    /// Reads the headers `If-Match` and `If-None-Match`.
    ///
    /// - Throws: `invalid-request` for anything except ETags or `*` in `If-Match`, or `*` in `If-None-Match`, and for
    ///   both headers together.
    package init(ifMatch: String?, ifNoneMatch: String?) throws(Problem) {
        switch (ifMatch, ifNoneMatch) {
        case (nil, nil): self = .none
        case ("*"?, nil): self = .present
        case (nil, "*"?): self = .absent
        case (let list, _):
            let tags =
                list?.split(separator: ",").map { $0.wholeMatch(of: /[ \t]*(?:W\/)?"([^"]+)"[ \t]*/)?.1 } ?? [nil]
            guard ifNoneMatch == nil, !tags.contains(nil) else {
                throw Problem.invalid(
                    "Correct the header If-Match or If-None-Match.", at: list == nil ? "If-None-Match" : "If-Match",
                    "Send ETags as GET gives them or * in If-Match, or * in If-None-Match.")
            }
            // A tag of another server matches nothing. What follows a hyphen is the name of a compression.
            self = .versions(Set(tags.compactMap { tag in tag.flatMap { Int($0.prefix { $0 != "-" }) } }))
        }
    }

    /// The problem when `absent` is required but something exists.
    package static let existsProblem = Problem(
        .versionMismatch, "It already exists, but If-None-Match: * requires that it does not.")

    /// - Parameter version: the present version; `nil`: there is none.
    /// - Throws: `version-mismatch`.
    package func check(_ version: Int?) throws(Problem) {
        switch self {
        case .none: return
        case .absent where version == nil: return
        case .present where version != nil: return
        case .versions(let wanted) where version.map(wanted.contains) ?? false: return
        case .absent: throw Self.existsProblem
        case .present, .versions:
            throw Problem(
                .versionMismatch,
                version == nil
                    ? "It does not exist, but If-Match requires it."
                    : "It was changed since you read it. GET it again, and send your change with the ETag of that answer."
            )
        }
    }
}
