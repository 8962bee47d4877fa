internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The filter of a list of an app's events.
struct LookupListQuery: Sendable {
    /// Only events with this topic.
    var topic: Topic?
    /// Only events that begin at this time or later. Events without a start are left out.
    var from: Date?
    /// Only events that begin before this time.
    var to: Date?
    var state: Contract.FollowableState?
    /// The variant of the audiences; `nil`: the audience without a variant or, if there is none, the first audience
    /// that is not over.
    var variant: Variant?
    /// 1 to 200.
    var limit: Int = 50
    /// The position of the previous page's last event.
    var after: PageCursor?
}

/// The events of one app and environment that can be followed, in the order of their start. The list is made from the
/// dictionary of lookups and used for a second.
struct LookupList: Sendable {
    struct App: Sendable, Hashable {
        /// The lowercased bundle ID.
        let topic: String
        let environment: APNsEnvironment
    }

    /// An event, ordered by its start and key. Events without a start come last.
    struct Item: Sendable {
        let key: EventKey
        /// Microseconds since 1970.
        let number: Int
        /// All records of the event, also those that are over and those of other apps: a list must choose the same
        /// audience as a lookup.
        let records: [LookupRecord]

        /// - Returns: `nil` if no audience of the app can follow the event.
        init?(_ key: EventKey, _ records: [LookupRecord], of app: App) {
            guard records.contains(where: { $0.listing != nil && !$0.isOver && $0.isOf(app.topic, app.environment) })
            else { return nil }
            (self.key, self.records) = (key, records)
            number = records[0].startsAt.map(PageCursor.number) ?? PageCursor.last
        }
    }

    let app: App
    private let items: [Item]

    init(of app: App, _ items: [Item]) {
        self.app = app
        self.items = items.sorted { ($0.number, $0.key.rawValue) < ($1.number, $1.key.rawValue) }
    }

    /// The events that match `query` at `now`.
    func page(_ query: LookupListQuery, now: Date) -> Contract.FollowablePage {
        let from = query.from.map(PageCursor.number) ?? .min
        // A list with a limit of time leaves out events without a start.
        let isBounded = query.from != nil || query.to != nil
        let to = query.to.map(PageCursor.number) ?? (isBounded ? PageCursor.last : .max)
        var found: [Contract.Followable] = []
        var last: Item?
        for item in items where from <= item.number && item.number < to {
            if let after = query.after, (item.number, item.key.rawValue) <= (after.number, after.key) { continue }
            guard let record = record(item, query, now) else { continue }
            guard found.count < query.limit else {
                return .init(items: found, nextCursor: last.map { PageCursor.text($0.number, $0.key.rawValue) })
            }
            found.append(Contract.Followable(item.key, record, now: now))
            last = item
        }
        return .init(items: found, nextCursor: nil)
    }

    private func record(_ item: Item, _ query: LookupListQuery, _ now: Date) -> LookupRecord? {
        if let topic = query.topic, item.records[0].listing?.topics.contains(topic) != true { return nil }
        guard let index = item.records.index(of: query.variant, app.topic, app.environment) else { return nil }
        let record = item.records[index]
        guard !record.isOver else { return nil }
        guard let wanted = query.state else { return record }
        return (wanted == .live) == (record.state(now: now) == .live) ? record : nil
    }
}

extension Contract.Followable {
    fileprivate init(_ key: EventKey, _ record: LookupRecord, now: Date) {
        let lookup = record.lookup(of: key, now: now)
        self.init(
            state: .init(lookup.state), name: record.listing?.name ?? "", kind: record.listing?.kind,
            topics: (record.listing?.topics ?? []).map(\.rawValue), lookup)
    }
}
