internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// The filter of a list of an app's events.
struct LookupListQuery: Sendable, Hashable {
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
    var after: LookupIndex.Place?
}
