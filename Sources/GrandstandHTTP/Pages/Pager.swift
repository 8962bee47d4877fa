internal import Grandstand

/// The way through a long list.
struct Pager: Sendable {
    /// The first page; `nil` on it.
    let start: String?
    /// `nil` on the last page.
    let onward: String?
    let isNeeded: Bool

    /// - Parameters:
    ///   - path: where the list is; `nil`: where it was asked for.
    ///   - query: what the list is narrowed by; it stays.
    init(
        _ visit: Visit, path: String? = nil, query: [(name: String, value: String?)] = [], nextCursor: String?
    ) {
        let path = path ?? visit.path
        start = visit.isAtStart ? nil : ConsolePath.link(path, query)
        onward = nextCursor.map { ConsolePath.link(path, query + [("cursor", $0)]) }
        isNeeded = start != nil || onward != nil
    }
}
