internal import APNsWire
package import GrandstandContract

/// Selects audiences of an event in a request: all audiences of an app and environment, or the audience with a certain
/// variant.
package struct AudienceSelector: Sendable, Hashable {
    /// Without a variant: any variant, unless `isExact`.
    fileprivate let id: Audience.ID
    /// Whether an ID without a variant selects only the audience without a variant.
    private var isExact = false

    /// Selects the audience with this ID. If the ID has no variant, all audiences of its app and environment are
    /// selected.
    package init(_ id: Audience.ID) { self.id = id }

    /// Selects exactly the audience with this ID.
    package static func only(_ id: Audience.ID) -> AudienceSelector {
        var selector = AudienceSelector(id)
        selector.isExact = true
        return selector
    }

    package func matches(_ other: Audience.ID) -> Bool {
        id.bundleID == other.bundleID && id.environment == other.environment
            && (id.variant == other.variant || id.variant == nil && !isExact)
    }

    fileprivate func objection(among ids: some Sequence<Audience.ID>) -> String {
        let place = "\(id.bundleID) in \(id.environment.rawValue)"
        let variants = ids.filter { $0.bundleID == id.bundleID && $0.environment == id.environment }.map(\.variant)
        guard let variant = id.variant, !variants.isEmpty else { return "The event has no audience \(place)." }
        let known = variants.compactMap { $0?.rawValue }.sorted()
        return "The event has no variant \(variant) of \(place); it has "
            + (known.isEmpty ? "none there." : "\(known.joined(separator: ", ")).")
    }
}

extension [AudienceSelector] {
    /// The faults of selectors that match no audience of the event.
    ///
    /// - Parameters:
    ///   - ids: the audiences of the event.
    ///   - pointer: the place of the selectors in the request.
    package func faults(among ids: some Collection<Audience.ID>, at pointer: String = "/audiences") -> [FieldError] {
        enumerated().filter { !ids.contains(where: $0.element.matches) }.map { index, selector in
            FieldError(pointer: "\(pointer)/\(index)", detail: selector.objection(among: ids))
        }
    }

    /// - Throws: `invalid-request` if a selector matches no audience of the event.
    package func require(among ids: some Collection<Audience.ID>) throws(Problem) {
        let faults = faults(among: ids)
        guard faults.isEmpty else {
            throw Problem(.invalidRequest, "The event does not have some of these audiences.", errors: faults)
        }
    }
}

extension AudienceSelector {
    /// - Throws: `internal-error` for values that openapi.yaml does not allow.
    package init(_ selector: Contract.AudienceSelector) throws(Problem) {
        self.init(
            Audience.ID(
                bundleID: try BundleID(allowed: selector.bundleId),
                environment: try APNsEnvironment(selector.environment),
                variant: try selector.variant.map { text throws(Problem) in try Variant(allowed: text) }))
    }
}

extension Contract.AudienceSelector {
    package init(_ selector: AudienceSelector) {
        let id = selector.id
        self.init(
            bundleId: id.bundleID.rawValue, environment: .init(id.environment), variant: id.variant?.rawValue)
    }
}
