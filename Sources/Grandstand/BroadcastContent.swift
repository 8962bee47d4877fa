package import APNsWire

/// The organiser's part of a broadcast. Some variants may get their own content or alert.
package struct BroadcastContent: Sendable, Hashable {
    /// The parts that replace the general ones for a variant.
    package struct Override: Sendable, Hashable {
        /// JSON object text; `nil`: the general content.
        package var contentState: [UInt8]?
        /// JSON object text; `nil`: the general alert, if there is one.
        package var alert: [UInt8]?

        package init(contentState: [UInt8]? = nil, alert: [UInt8]? = nil) {
            self.contentState = contentState
            self.alert = alert
        }
    }

    /// The general content, for all variants without their own.
    package var payload: BroadcastPayload
    package var byVariant: [Variant: Override]

    package init(_ payload: BroadcastPayload, byVariant: [Variant: Override] = [:]) {
        self.payload = payload
        self.byVariant = byVariant
    }

    package func payload(for variant: Variant?) -> BroadcastPayload {
        guard let override = variant.flatMap({ byVariant[$0] }) else { return payload }
        var payload = payload
        payload.contentState = override.contentState ?? payload.contentState
        payload.alert = override.alert ?? payload.alert
        return payload
    }

    /// Refuses variants that no audience of the event has.
    ///
    /// - Parameter ids: all audiences of the event, including those that have ended.
    /// - Throws: `invalid-request` with a list of the event's variants.
    package func requireVariants(among ids: some Sequence<Audience.ID>) throws(Problem) {
        guard !byVariant.isEmpty else { return }
        let known = Set(ids.compactMap(\.variant))
        let unknown = byVariant.keys.filter { !known.contains($0) }.sorted()
        guard !unknown.isEmpty else { return }
        let words =
            known.isEmpty
            ? "no audience of it has a variant" : "it has \(known.sorted().map(\.rawValue).joined(separator: ", "))"
        throw Problem(
            .invalidRequest, "The event does not have some of these variants.",
            errors: unknown.map {
                FieldError(pointer: "/byVariant/\($0)", detail: "The event has no variant \($0); \(words).")
            })
    }
}
