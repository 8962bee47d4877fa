package import APNsWire
internal import FoundationEssentials
package import Grandstand
package import GrandstandContract
internal import HTTP2
internal import JSON

extension APNsClient: APNsGateway {
    package func send(_ delivery: ClaimedDelivery) async -> APNsAnswer<Void> {
        let message = delivery.message
        guard let channelID = message.channelID else { return .withheld("the message has no channel") }
        return await quirks.watching("a broadcast", delivery.address) { address in
            await perform(
                "broadcast", "POST", APNsPath.broadcasts(of: address.bundleID.rawValue),
                [
                    HTTP2Header(APNsHeader.channelID, channelID, indexing: .never),
                    HTTP2Header(APNsHeader.pushType, PushType.header),
                    HTTP2Header(APNsHeader.priority, String(message.priority.rawValue)),
                    HTTP2Header(APNsHeader.expiration, String(message.apnsExpiration), indexing: .never),
                    Self.requestID(message.requestID),
                ], body: delivery.body, for: address
            ).map { _ in }
        }
    }

    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress
    ) async -> APNsAnswer<String> {
        let body = #"{"message-storage-policy":\#(storagePolicy.wireValue),"push-type":"\#(PushType.json)"}"#
        return await manage(
            "a creation", "POST", at: address, body: Array(body.utf8)
        ).map(Self.channelID)
    }

    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await manage("the reading of a channel", "GET", at: address, channelID: channelID).map(Self.storagePolicy)
    }

    package func deleteChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<Void> {
        await manage("a deletion", "DELETE", at: address, channelID: channelID).map { _ in }
    }

    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await manage("the list of channels", "GET", APNsPath.allChannels(of:), at: address).map(Self.channels)
    }

    package func keyFile(of use: KeyUse) -> (state: Contract.CredentialState, refusal: KeyRefusal?) {
        let file = keys.state(of: use.credentials.keyID)
        guard file == .ok, let refusal = standings.own()[use] else { return (file, nil) }
        return (.refused, refusal)
    }

    private func manage(
        _ name: String, _ method: String, _ path: (String) -> String = APNsPath.channels(of:), at address: APNsAddress,
        channelID: String? = nil, body: [UInt8] = []
    ) async -> APNsAnswer<HTTP2Response> {
        await quirks.spelling(name, address) { address in
            var headers = [Self.requestID(UUID())]
            if let channelID { headers.append(HTTP2Header(APNsHeader.channelID, channelID, indexing: .never)) }
            return await perform("manage", method, path(address.managementBundleID), headers, body: body, for: address)
        }
    }

    private static func requestID(_ id: UUID) -> HTTP2Header {
        HTTP2Header(APNsHeader.requestID, id.uuidString.lowercased(), indexing: .never)
    }

    /// If the answer has no channel ID, the channel may still exist. Only Apple's list of channels shows whether it
    /// does.
    static func channelID(_ response: HTTP2Response) throws(UnreadableAnswer) -> String {
        guard let channelID = response[header: APNsHeader.channelID], !channelID.isEmpty else {
            throw UnreadableAnswer("APNs accepted the creation, but its answer has no channel ID")
        }
        return channelID
    }

    static func storagePolicy(_ response: HTTP2Response) throws(UnreadableAnswer) -> StoragePolicy {
        guard case .number(let text)? = (try? JSONValue(parsing: response.body))?["message-storage-policy"]?.kind,
            let policy = StoragePolicy.allCases.first(where: { $0.wireValue == Int(text) })
        else { throw UnreadableAnswer("APNs' description of the channel has no known storage policy") }
        return policy
    }

    /// Fails unless the body is a JSON object whose member `channels` is an array of IDs only; other members are
    /// allowed. A list that cannot be read completely must not be used.
    static func channels(_ response: HTTP2Response) throws(UnreadableAnswer) -> ChannelListing {
        let failure = UnreadableAnswer("APNs' list of channels cannot be read completely")
        guard let json = try? JSONValue(parsing: response.body), case .object(let members) = json.kind,
            let elements = json["channels"]?.elements
        else { throw failure }
        var channelIDs: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard let channelID = element.string, (1...1_024).contains(channelID.count) else { throw failure }
            if seen.insert(channelID).inserted { channelIDs.append(channelID) }
        }
        return ChannelListing(channelIDs: channelIDs, otherMembers: members.map(\.name).filter { $0 != "channels" })
    }
}

/// Why an accepted answer cannot be read.
struct UnreadableAnswer: Error {
    let why: String

    init(_ why: String) { self.why = why }
}

extension APNsAnswer {
    /// Parses an accepted answer. If the answer cannot be parsed, the call counts as unanswered, because APNs may have
    /// processed it.
    func map<Read: Sendable>(_ read: (Value) throws(UnreadableAnswer) -> Read) -> APNsAnswer<Read> {
        switch self {
        case .accepted(let value, let receipt):
            do throws(UnreadableAnswer) { return .accepted(try read(value), receipt) } catch {
                return .unanswered(error.why)
            }
        case .refused(let refusal): return .refused(refusal)
        case .unanswered(let why): return .unanswered(why)
        case .unsent(let why): return .unsent(why)
        case .withheld(let why): return .withheld(why)
        }
    }
}
