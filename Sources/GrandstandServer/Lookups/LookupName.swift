internal import APNsWire
internal import Grandstand

/// The subject of a lookup: an event, in an app and environment, in one of its variants.
struct LookupName: Sendable, Hashable {
    /// The lowercased bundle ID.
    let topic: String
    let environment: APNsEnvironment
    let key: EventKey
    /// `nil`: the audience without a variant, else the first that is not over.
    var variant: Variant?
}
