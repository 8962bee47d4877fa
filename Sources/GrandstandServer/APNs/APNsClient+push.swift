internal import APNsWire
internal import FoundationEssentials
package import Grandstand
internal import HTTP2

extension APNsClient: DeviceGateway {
    package func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void> {
        let answer: APNsAnswer<Void> = await perform(
            "device", "POST", APNsPath.device(push.token.hex),
            [
                HTTP2Header(APNsHeader.topic, address.bundleID.rawValue + PushType.topicSuffix),
                HTTP2Header(APNsHeader.pushType, PushType.header),
                HTTP2Header(APNsHeader.priority, String(push.priority.ofDevicePush.rawValue)),
                HTTP2Header(APNsHeader.expiration, String(push.expiration), indexing: .never),
                HTTP2Header(APNsHeader.id, push.requestID.uuidString.lowercased(), indexing: .never),
            ] + (push.collapseID.map { [HTTP2Header(APNsHeader.collapseID, $0)] } ?? []),
            body: push.body, for: address
        ).map { _ in }
        settings.metrics.pushed(to: address.app, answer)
        return answer
    }
}
