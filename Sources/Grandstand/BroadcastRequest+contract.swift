internal import APNsWire
internal import FoundationEssentials
package import GrandstandContract

extension Contract.BroadcastDraft {
    /// A body that repeats the broadcast: its members and the event's defaults that were filled in. `sendAt` is left
    /// out, because it is in the past.
    package init(_ request: BroadcastRequest) {
        let payload = request.payload
        self.init(
            event: .init(payload.event), contentState: payload.contentState.map(RawJSON.init(unchecked:)),
            alert: payload.alert.map(RawJSON.init(unchecked:)),
            byVariant: request.byVariant.isEmpty
                ? nil
                : Dictionary(
                    uniqueKeysWithValues: request.byVariant.map {
                        ($0.key.rawValue, Contract.VariantContent($0.value))
                    }),
            audiences: request.audiences?.map(Contract.AudienceSelector.init), priority: request.priority?.rawValue,
            expiresIn: request.expiresIn, apnsExpiration: request.apnsExpiration,
            staleDate: payload.staleDate.map(Date.init(epoch:)),
            dismissalDate: payload.dismissalDate.map(Date.init(epoch:)),
            relevanceScore: payload.relevanceScore.map(RawJSON.init(unchecked:)))
    }
}

extension Contract.VariantContent {
    fileprivate init(_ override: BroadcastContent.Override) {
        self.init(
            contentState: override.contentState.map(RawJSON.init(unchecked:)),
            alert: override.alert.map(RawJSON.init(unchecked:)))
    }
}

extension Date {
    fileprivate init(epoch: Int) { self.init(timeIntervalSince1970: Double(epoch)) }
}
