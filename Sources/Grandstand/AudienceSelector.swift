internal import APNsWire
package import GrandstandContract

extension Contract.AudienceSelector {
    /// Selects the audience with this ID. If the ID has no variant, all audiences of its app and environment are
    /// selected.
    package init(_ id: Audience.ID) {
        self.init(
            bundleId: id.bundleID.rawValue, environment: .init(id.environment), variant: id.variant?.rawValue)
    }

    /// Selects exactly the audience with this ID. The empty variant, which no request can have, selects the audience
    /// without a variant.
    package static func only(_ id: Audience.ID) -> Self {
        var selector = Self(id)
        selector.variant = id.variant?.rawValue ?? ""
        return selector
    }

    /// The selector as a request has it, without the empty variant.
    package var declared: Self {
        var selector = self
        if variant == "" { selector.variant = nil }
        return selector
    }

    package func matches(_ other: Audience.ID) -> Bool {
        isOfApp(other) && (variant == nil || variant == other.variant?.rawValue ?? "")
    }

    private func isOfApp(_ id: Audience.ID) -> Bool {
        bundleId == id.bundleID.rawValue && environment.rawValue == id.environment.rawValue
    }

    fileprivate func objection(among ids: some Sequence<Audience.ID>) -> String {
        let place = "\(bundleId) in \(environment.rawValue)"
        let variants = ids.filter(isOfApp).map(\.variant)
        guard let variant, !variants.isEmpty else { return "The event has no audience \(place)." }
        let known = variants.compactMap { $0?.rawValue }.sorted()
        return "The event has no variant \(variant) of \(place); it has "
            + (known.isEmpty ? "none there." : "\(known.joined(separator: ", ")).")
    }
}

extension [Contract.AudienceSelector] {
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
