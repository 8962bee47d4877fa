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
    package var asRequested: Self {
        var selector = self
        if variant == "" { selector.variant = nil }
        return selector
    }

    package func matches(_ other: Audience.ID) -> Bool {
        bundleId == other.bundleID.rawValue && environment.rawValue == other.environment.rawValue
            && (variant == nil || variant == other.variant?.rawValue ?? "")
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
            let words = "\(selector.bundleId) in \(selector.environment.rawValue)"
            return FieldError(
                pointer: "\(pointer)/\(index)",
                detail: "The event has no audience \(words)\(selector.variant.map { " for variant \($0)" } ?? "").")
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
