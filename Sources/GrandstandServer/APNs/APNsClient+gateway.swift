package import APNsWire
package import FoundationEssentials
package import Grandstand
internal import HTTP2
internal import JSON

extension APNsClient: APNsGateway {
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        let address = delivery.address
        guard let endpoint = settings.endpoints.send[address.environment] else { return .withheld(Self.noEndpoint) }
        let request = HTTP2Request(
            method: "POST", path: APNsPath.broadcasts(of: address.bundleID.rawValue), authority: endpoint.authority,
            headers: [
                HTTP2Header(APNsHeader.channelID, delivery.channelID, indexing: .never),
                HTTP2Header(APNsHeader.pushType, PushType.header),
                HTTP2Header(APNsHeader.priority, String(delivery.priority.rawValue)),
                HTTP2Header(APNsHeader.expiration, String(delivery.expiration), indexing: .never),
                Self.requestID(delivery.requestID),
            ],
            body: delivery.body)
        return await perform("broadcast", request, at: endpoint, for: address).map { _ in .success(()) }
    }

    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> {
        let body = #"{"message-storage-policy":\#(storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return await manage(
            "POST", APNsPath.channels(of: address.managementBundleID), at: address, requestID: requestID,
            body: Array(body.utf8)
        ).map(Self.channelID)
    }

    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await manage(
            "GET", APNsPath.channels(of: address.managementBundleID), at: address, requestID: UUID(),
            headers: [HTTP2Header(APNsHeader.channelID, channelID, indexing: .never)]
        ).map(Self.storagePolicy)
    }

    package func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> {
        await manage(
            "DELETE", APNsPath.channels(of: address.managementBundleID), at: address, requestID: requestID,
            headers: [HTTP2Header(APNsHeader.channelID, channelID, indexing: .never)]
        ).map { _ in .success(()) }
    }

    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await manage(
            "GET", APNsPath.allChannels(of: address.managementBundleID), at: address, requestID: UUID()
        ).map(Self.channels)
    }

    package func keyFile(of use: KeyUse) -> KeyFileState {
        let file = keys.state(of: use.credentials.keyID)
        guard file == .ok, let refusal = standings.own()[use] else { return file }
        return .refused(refusal)
    }

    private func manage(
        _ method: String, _ path: String, at address: APNsAddress, requestID: UUID, headers: [HTTP2Header] = [],
        body: [UInt8] = []
    ) async -> APNsAnswer<HTTP2Response> {
        guard let endpoint = settings.endpoints.manage[address.environment] else { return .withheld(Self.noEndpoint) }
        return await perform(
            "manage",
            HTTP2Request(
                method: method, path: path, authority: endpoint.authority,
                headers: [Self.requestID(requestID)] + headers, body: body),
            at: endpoint, for: address)
    }

    static func requestID(_ id: UUID) -> HTTP2Header {
        HTTP2Header(APNsHeader.requestID, id.uuidString.lowercased(), indexing: .never)
    }

    /// If the answer has no channel ID, the channel may still exist. Only Apple's list of channels shows whether it
    /// does.
    static func channelID(_ response: HTTP2Response) -> Reading<String> {
        guard let channelID = response[header: APNsHeader.channelID], !channelID.isEmpty else {
            return .failure("APNs accepted the creation, but its answer has no channel ID")
        }
        return .success(channelID)
    }

    static func storagePolicy(_ response: HTTP2Response) -> Reading<StoragePolicy> {
        guard case .number(let text)? = (try? JSONValue(parsing: response.body))?["message-storage-policy"]?.kind,
            let policy = Int(text).flatMap(StoragePolicy.init(wireValue:))
        else { return .failure("APNs' description of the channel has no known storage policy") }
        return .success(policy)
    }

    /// Fails unless the body is a JSON object whose member `channels` is an array of IDs only; other members are
    /// allowed. A list that cannot be read completely must not be used.
    static func channels(_ response: HTTP2Response) -> Reading<ChannelListing> {
        let failure = Reading<ChannelListing>.failure("APNs' list of channels cannot be read completely")
        guard let json = try? JSONValue(parsing: response.body), case .object(let members) = json.kind,
            let elements = json["channels"]?.elements
        else { return failure }
        var channelIDs: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard let channelID = element.string, (1...1_024).contains(channelID.count) else { return failure }
            if seen.insert(channelID).inserted { channelIDs.append(channelID) }
        }
        return .success(
            ChannelListing(channelIDs: channelIDs, otherMembers: members.map(\.name).filter { $0 != "channels" }))
    }

    static let noEndpoint = "no endpoint is configured for this environment"
}

/// The result of parsing an accepted answer: a value, or why there is none.
enum Reading<Value> {
    case success(Value)
    case failure(String)
}

extension APNsAnswer {
    /// Parses an accepted answer. If the answer cannot be parsed, the call counts as unanswered, because APNs may have
    /// processed it.
    func map<Read: Sendable>(_ read: (Value) -> Reading<Read>) -> APNsAnswer<Read> {
        switch self {
        case .accepted(let value, let receipt):
            switch read(value) {
            case .success(let read): .accepted(read, receipt)
            case .failure(let why): .unanswered(why)
            }
        case .refused(let refusal): .refused(refusal)
        case .unanswered(let why): .unanswered(why)
        case .unsent(let why): .unsent(why)
        case .withheld(let why): .withheld(why)
        }
    }
}
