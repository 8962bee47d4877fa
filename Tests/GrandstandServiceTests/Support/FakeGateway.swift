internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// APNs with scripted answers: each kind of call has its answers in order. The last one is repeated.
final class FakeGateway: APNsGateway {
    struct Calls: Sendable {
        var created: [APNsAddress] = []
        var requestIDs: [UUID] = []
        var deleted: [String] = []
        var read: [String] = []
        var listed: [APNsAddress] = []
    }

    private struct State {
        var creations: [APNsAnswer<String>]
        var deletions: [APNsAnswer<Void>]
        var lists: [APNsAnswer<ChannelListing>]
        var reads: [APNsAnswer<StoragePolicy>]
        var calls = Calls()
    }

    private let state: Mutex<State>
    private let onSend: @Sendable (BroadcastMessage) async -> APNsAnswer<Void>
    let keyFileState: KeyFileState

    init(
        creations: [APNsAnswer<String>] = [], deletions: [APNsAnswer<Void>] = [],
        reads: [APNsAnswer<StoragePolicy>] = [], lists: [APNsAnswer<ChannelListing>] = [],
        keyFile: KeyFileState = .ok,
        send: @escaping @Sendable (BroadcastMessage) async -> APNsAnswer<Void> = { _ in
            .accepted((), .init(requestID: nil))
        }
    ) {
        state = Mutex(State(creations: creations, deletions: deletions, lists: lists, reads: reads))
        keyFileState = keyFile
        onSend = send
    }

    var calls: Calls { state.withLock { $0.calls } }

    func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> { await onSend(message) }

    func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> {
        state.withLock { state in
            state.calls.created.append(address)
            state.calls.requestIDs.append(requestID)
            return Self.next(&state.creations)
        }
    }

    func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        state.withLock { state in
            state.calls.read.append(channelID)
            return Self.next(&state.reads)
        }
    }

    func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> {
        state.withLock { state in
            state.calls.deleted.append(channelID)
            return Self.next(&state.deletions)
        }
    }

    func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        state.withLock { state in
            state.calls.listed.append(address)
            return Self.next(&state.lists)
        }
    }

    func keyFile(of use: KeyUse) async -> KeyFileState { keyFileState }

    private static func next<Value>(_ answers: inout [APNsAnswer<Value>]) -> APNsAnswer<Value> {
        guard let answer = answers.first else { return .unsent("not scripted") }
        if answers.count > 1 { answers.removeFirst() }
        return answer
    }
}
