package import APNsWire
package import GrandstandContract

/// Selects audiences of an event in a request: all audiences of an app and environment, or the audience with a certain
/// variant.
package struct AudienceSelector: Sendable, Hashable {
    package var bundleID: BundleID
    package var environment: APNsEnvironment
    /// `nil`: any variant.
    package var variant: Variant?
    /// If true and `variant` is `nil`, only the audience without a variant is selected.
    package var isExact = false

    package init(bundleID: BundleID, environment: APNsEnvironment, variant: Variant? = nil) {
        self.bundleID = bundleID
        self.environment = environment
        self.variant = variant
    }

    /// Selects the audience with this ID. If the ID has no variant, all audiences of its app and environment are
    /// selected.
    package init(_ id: Audience.ID) {
        self.init(bundleID: id.bundleID, environment: id.environment, variant: id.variant)
    }

    /// Selects exactly the audience with this ID.
    package static func only(_ id: Audience.ID) -> AudienceSelector {
        var selector = AudienceSelector(id)
        selector.isExact = true
        return selector
    }

    package func matches(_ id: Audience.ID) -> Bool {
        bundleID == id.bundleID && environment == id.environment
            && (variant == id.variant || variant == nil && !isExact)
    }

    /// The error text for this selector when it matches no audience of the event.
    ///
    /// - Parameter ids: the audiences of the event.
    package func objection(among ids: some Sequence<Audience.ID>) -> String {
        let variants = ids.filter { $0.bundleID == bundleID && $0.environment == environment }.map(\.variant)
        guard let variant, !variants.isEmpty else {
            return "The event has no audience \(bundleID) in \(environment.rawValue)."
        }
        let known = variants.compactMap { $0?.rawValue }.sorted()
        return "The event has no variant \(variant) of \(bundleID) in \(environment.rawValue); it has "
            + (known.isEmpty ? "none there." : "\(known.joined(separator: ", ")).")
    }
}

extension AudienceSelector {
    /// - Throws: `internal-error` for values that openapi.yaml does not allow.
    package init(_ selector: Contract.AudienceSelector) throws(Problem) {
        self.init(
            bundleID: try BundleID(allowed: selector.bundleId), environment: try APNsEnvironment(selector.environment),
            variant: try selector.variant.map { text throws(Problem) in try Variant(allowed: text) })
    }
}

extension Contract.AudienceSelector {
    package init(_ selector: AudienceSelector) {
        self.init(
            bundleId: selector.bundleID.rawValue, environment: .init(selector.environment),
            variant: selector.variant?.rawValue)
    }
}
