package import APNsWire
package import GrandstandContract

/// The organiser's part of a broadcast. Some variants may get their own content or alert.
package struct BroadcastContent: Sendable, Hashable {
    /// The general content, for all variants without their own.
    package var payload: BroadcastPayload
    /// The parts that replace the general ones, by variant.
    package var byVariant: [String: Contract.VariantContent]

    package init(_ payload: BroadcastPayload, byVariant: [String: Contract.VariantContent] = [:]) {
        self.payload = payload
        self.byVariant = byVariant
    }

    package func payload(for variant: Variant?) -> BroadcastPayload {
        guard let own = variant.flatMap({ byVariant[$0.rawValue] }) else { return payload }
        var payload = payload
        payload.contentState = own.contentState.map { Array($0.bytes) } ?? payload.contentState
        payload.alert = own.alert.map { Array($0.bytes) } ?? payload.alert
        return payload
    }

    /// Refuses variants that no audience of the event has.
    ///
    /// - Parameter ids: all audiences of the event, including those that have ended.
    /// - Throws: `invalid-request` with a list of the event's variants.
    package func requireVariants(among ids: some Sequence<Audience.ID>) throws(Problem) {
        guard !byVariant.isEmpty else { return }
        let known = Set(ids.compactMap(\.variant?.rawValue))
        let unknown = byVariant.keys.filter { !known.contains($0) }.sorted()
        guard !unknown.isEmpty else { return }
        let words =
            known.isEmpty
            ? "no audience of it has a variant" : "it has \(known.sorted().joined(separator: ", "))"
        throw Problem(
            .invalidRequest, "The event does not have some of these variants.",
            errors: unknown.map {
                FieldError(pointer: "/byVariant/\($0)", detail: "The event has no variant \($0); \(words).")
            })
    }
}
