internal import Grandstand

/// The way through a long list.
struct Pager: Sendable {
    /// The first page; `nil` on it.
    let start: String?
    /// `nil` on the last page.
    let onward: String?
    let isNeeded: Bool

    /// - Parameter query: what the list is narrowed by; it stays.
    init(_ visit: Visit, query: [(name: String, value: String?)] = [], nextCursor: String?) {
        start = visit.isAtStart ? nil : ConsolePath.link(visit.path, query)
        onward = nextCursor.map { ConsolePath.link(visit.path, query + [("cursor", $0)]) }
        isNeeded = start != nil || onward != nil
    }
}
