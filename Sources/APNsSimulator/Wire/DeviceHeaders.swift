internal import APNsWire

/// The headers of a device push, except its topic (docs/internals/apns.md 3.1).
struct DeviceHeaders {
    private let request: SimulatorRequest

    /// - Throws: `InvalidPushType` unless `apns-push-type` is `liveactivity` (in upper or lower case), because the
    ///   simulator supports no other pushes.
    init(_ request: SimulatorRequest) throws(Refusal) {
        guard request[header: APNsHeader.pushType]?.lowercased() == PushType.header else {
            throw Refusal(.invalidPushType)
        }
        self.request = request
    }

    /// - Returns: `apns-expiration`; `nil` if it is absent.
    /// - Throws: `BadExpirationDate`, `BadPriority`, `BadCollapseId`, in this order.
    func checked() throws(Refusal) -> Int? {
        var expiration: Int?
        if let text = request[header: APNsHeader.expiration] {
            guard let number = BroadcastHeaders.number(text) else { throw Refusal(.badExpirationDate) }
            expiration = number
        }
        if let text = request[header: APNsHeader.priority] {
            guard BroadcastHeaders.number(text).flatMap(APNsPriority.init(rawValue:)) != nil else {
                throw Refusal(.badPriority)
            }
        }
        if let text = request[header: APNsHeader.collapseID], text.utf8.count > APNsLimits.collapseID {
            throw Refusal(.badCollapseId)
        }
        return expiration
    }
}
