internal import APNsWire
package import FoundationEssentials
internal import GrandstandContract
internal import JSON

extension BroadcastRequest {
    /// The request as it fits Apple's limit. Many clients write `\u00e9` for é, six bytes in place of two. If contents
    /// and alerts fit only without such escapes, they are written without them, with a warning. Otherwise, every byte
    /// stays.
    ///
    /// - Parameter now: when the message is sent.
    package func fitted(at now: Date) -> (request: BroadcastRequest, warning: String?) {
        let timestamp = Int(now.timeIntervalSince1970)
        guard isTooLong(timestamp) else { return (self, nil) }
        var short = self
        short.payload.contentState = Self.plain(payload.contentState)
        short.payload.alert = Self.plain(payload.alert)
        short.byVariant = byVariant.mapValues {
            Contract.VariantContent(contentState: Self.plain($0.contentState), alert: Self.plain($0.alert))
        }
        guard !short.isTooLong(timestamp) else { return (self, nil) }
        return (
            short,
            #"This fits Apple's \#(APNsLimits.broadcastPayload) bytes only without the escapes \u of its texts, so it "#
                + "is sent with the characters themselves. Write JSON without them, in Python with ensure_ascii=False."
        )
    }

    private func isTooLong(_ timestamp: Int) -> Bool {
        return ([nil] + byVariant.keys.map(Variant.init(rawValue:))).contains { variant in
            let payload = payload(for: variant)
            let texts = (payload.contentState?.count ?? 0) + (payload.alert?.count ?? 0)
            // Few messages are near the limit, and only their bodies are made.
            return texts > APNsLimits.broadcastPayload - 512
                && payload.body(timestamp: timestamp).count > APNsLimits.broadcastPayload
        }
    }

    private static func plain(_ json: RawJSON?) -> RawJSON? {
        json.map { RawJSON(unchecked: JSONParser.withoutUnicodeEscapes(Array($0.bytes))) }
    }

    private static func plain(_ json: [UInt8]?) -> [UInt8]? { json.map(JSONParser.withoutUnicodeEscapes) }
}
