internal import APNsWire
internal import JSON

/// The body of a create request (docs/internals/apns.md 1.2): a policy and a push type, and nothing else.
struct CreateBody: Hashable {
    var storagePolicy: StoragePolicy

    /// The checks, in this order:
    ///
    /// 1. not a JSON object (an empty body included): `BadRequestPayload`
    /// 2. another key: `BadRequestParams`
    /// 3. the policy absent, or a number other than 0 and 1: `MissingChannelQueueSize` (as observed);
    ///    not a number at all, a string such as `"1"` included: `BadRequestParams`
    /// 4. the push type absent: `MissingPushType`; not exactly `LiveActivity`: `InvalidPushType`
    init(_ body: [UInt8]) throws(Refusal) {
        guard let object = JSONValue(object: body) else { throw Refusal(.badRequestPayload) }
        guard case .object(let members) = object.kind,
            members.allSatisfy({ ["message-storage-policy", "push-type"].contains($0.name) })
        else {
            throw Refusal(.badRequestParams)
        }
        switch object["message-storage-policy"]?.kind {
        case nil: throw Refusal(.missingChannelQueueSize)
        case .number(let text)?:
            guard let policy = StoragePolicy.allCases.first(where: { $0.wireValue == Int(text) }) else {
                throw Refusal(.missingChannelQueueSize)
            }
            storagePolicy = policy
        default: throw Refusal(.badRequestParams)
        }
        guard let pushType = object["push-type"] else { throw Refusal(.missingPushType) }
        guard pushType.string == PushType.json else { throw Refusal(.invalidPushType) }
    }
}
