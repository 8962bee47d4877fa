internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

extension Contract.FollowablePage {
    /// One part of a list, as the API returns it to apps on phones.
    init(_ part: LookupIndex.Part, now: Date) {
        self.init(
            items: part.items.map { item in
                let listing = item.record.listing
                let lookup = item.record.lookup(of: item.key, now: now)
                return Contract.Followable(
                    state: .init(lookup.state), name: listing?.name ?? "", kind: listing?.kind,
                    topics: (listing?.topics ?? []).map(\.rawValue), lookup)
            }, nextCursor: part.next?.text)
    }
}
