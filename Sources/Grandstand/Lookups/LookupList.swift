package import FoundationEssentials
package import GrandstandContract

/// The filter of a list of an app's events.
package struct LookupListQuery: Sendable {
    /// Only events with this topic.
    package var topic: String?
    /// Only events that begin at this time or later. Events without a start are left out.
    package var from: Date?
    /// Only events that begin before this time.
    package var to: Date?
    package var state: Contract.FollowableState?
    /// The variant of the audiences; `nil`: the audience without a variant or, if there is none, the first audience
    /// that is not over.
    package var variant: Variant?
    /// 1 to 200.
    package var limit: Int = 50
    /// The position of the previous page's last event.
    package var after: PageCursor?

    /// The first events of an app.
    package static let standard = LookupListQuery()

    /// The events that match at `now`, in the order of their start, in microseconds since 1970, and their key. Events
    /// without a start come last.
    ///
    /// - Parameter events: all records of each event: a list must choose the same audience as a lookup.
    package func page(of events: [[LookupRecord]], for app: AppEnvironment, now: Date) -> Contract.FollowablePage {
        let from = from.map(PageCursor.micros) ?? .min
        // A list with a limit of time leaves out events without a start.
        let to = to.map(PageCursor.micros) ?? (self.from == nil ? .max : PageCursor.most)
        let found = events.compactMap { records -> (Int, String, LookupRecord)? in
            guard let record = records.index(of: variant, for: app).map({ records[$0] }), record.name != nil,
                !record.isOver, topic.map(record.topics.contains) ?? true,
                state.map({ ($0 == .live) == (record.state(now: now) == .live) }) ?? true
            else { return nil }
            let number = record.startsAt.map(PageCursor.micros) ?? PageCursor.most
            guard from <= number, number < to else { return nil }
            if let after, (number, record.key.rawValue) <= (after.sortNumber, after.key) { return nil }
            return (number, record.key.rawValue, record)
        }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        let page = found.prefix(limit)
        return .init(
            items: page.map { Contract.Followable($2, now: now) },
            nextCursor: page.count == found.count ? nil : page.last.map { PageCursor.text($0.0, $0.1) })
    }
}

extension Contract.Followable {
    fileprivate init(_ record: LookupRecord, now: Date) {
        let lookup = record.lookup(now: now)
        self.init(state: .init(lookup.state), name: record.name ?? "", kind: record.kind, topics: record.topics, lookup)
    }
}
