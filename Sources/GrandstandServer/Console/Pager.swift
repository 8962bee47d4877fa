internal import Grandstand

/// The links through a long list.
struct Pager: Sendable {
    /// The link to the first page; `nil` if this is the first page.
    let start: String?
    /// The link to the next page; `nil` on the last page.
    let onward: String?
    let isNeeded: Bool

    /// - Parameters:
    ///   - path: the path of the list; `nil`: the path of this request.
    ///   - query: the filter of the list, which the links keep.
    init(
        _ visit: Visit, path: String? = nil, query: [(name: String, value: String?)] = [], nextCursor: String?
    ) {
        let path = path ?? visit.path
        start = visit.isAtStart ? nil : ConsolePath.link(path, query)
        onward = nextCursor.map { ConsolePath.link(path, query + [("cursor", $0)]) }
        isNeeded = start != nil || onward != nil
    }
}
