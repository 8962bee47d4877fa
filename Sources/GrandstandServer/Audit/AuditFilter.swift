internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

/// A filter of the audit log; a member that is `nil` does not filter.
struct AuditFilter {
    var actor: String?
    var action: Contract.AuditAction?
    var bundleID: BundleID?
    var event: EventKey?
    /// Whether accepted updates are left out. A feed has thousands of them.
    var omitsUpdates = false
    /// Only entries of these apps, and of events within this reach.
    var reach = AppReach.all
    /// Only entries at or after this time.
    var from: Date?
    /// Only entries before this time.
    var to: Date?
}
