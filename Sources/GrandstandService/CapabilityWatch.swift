package import APNsWire
package import FoundationEssentials
package import Grandstand
package import Logging
internal import Synchronization

/// Passes every call on to APNs, and notes from the answers whether the app has the Broadcast capability, whatever the
/// call: the first refusal raises the alarm for all replicas, a later success ends it. Creations are left to the
/// ledger, which records their outcome with what follows from it.
package struct CapabilityWatch: APNsGateway {
    private let gateway: any APNsGateway
    private let quirks: any QuirkStore
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let memory = Memory()

    package init(
        gateway: any APNsGateway, quirks: any QuirkStore, now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.gateway = gateway
        self.quirks = quirks
        self.now = now
        self.logger = logger
    }

    package func send(_ message: BroadcastMessage, to address: APNsAddress) async -> APNsAnswer<Void> {
        await watching(address.app, "a broadcast", isBroadcast: true) { await gateway.send(message, to: address) }
    }

    package func createChannel(
        _ storagePolicy: StoragePolicy, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<String> {
        await gateway.createChannel(storagePolicy, at: address, requestID: requestID)
    }

    package func readChannel(_ channelID: String, at address: APNsAddress) async -> APNsAnswer<StoragePolicy> {
        await watching(address.app, "a look at a channel") { await gateway.readChannel(channelID, at: address) }
    }

    package func deleteChannel(
        _ channelID: String, at address: APNsAddress, requestID: UUID
    ) async -> APNsAnswer<Void> {
        await watching(address.app, "a deletion") {
            await gateway.deleteChannel(channelID, at: address, requestID: requestID)
        }
    }

    package func listChannels(at address: APNsAddress) async -> APNsAnswer<ChannelListing> {
        await watching(address.app, "the list of channels") { await gateway.listChannels(at: address) }
    }

    package func keyFile(of credentials: Credentials) async -> KeyFileState { await gateway.keyFile(of: credentials) }

    // MARK: Notes

    private func watching<Value: Sendable>(
        _ app: AppEnvironment, _ call: String, isBroadcast: Bool = false,
        _ body: () async -> APNsAnswer<Value>
    ) async -> APNsAnswer<Value> {
        let calledAt = now()
        let answer = await body()
        switch answer {
        case .accepted where memory.wantsNote(ofSuccess: app, at: calledAt):
            await note(app) {
                try await quirks.noteCapability(
                    isOn: true, for: app, evidence: "APNs accepted \(call)", isBroadcast: isBroadcast,
                    calledAt: calledAt, now: now())
            }
        case .refused(let refusal)
        where refusal.reason == .broadcastFeatureNotEnabled && memory.wantsNote(ofRefusal: app, at: calledAt):
            logger.error(
                "APNs says that the app may not broadcast",
                metadata: ["app": "\(app.bundleID)", "environment": "\(app.environment.rawValue)", "call": "\(call)"])
            let request = refusal.requestID ?? "without an ID"
            await note(app) {
                try await quirks.noteCapability(
                    isOn: false, for: app,
                    evidence: "APNs refused \(call) with \(refusal.reason) (request \(request))",
                    isBroadcast: isBroadcast, calledAt: calledAt, now: now())
            }
        default: break
        }
        return answer
    }

    private func note(_ app: AppEnvironment, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
            memory.forget(app)
        } catch {
            // The next answer says the same.
            memory.forget(app)
            logger.warning("the app's capability was not noted", metadata: ["error": "\(error)"])
        }
    }

    /// The notes of this process of late, so that thousands of answers make one note.
    private final class Memory: Sendable {
        private struct Notes {
            var refusal: Date?
            var success: Date?
        }

        private let notes = Mutex<[AppEnvironment: Notes]>([:])

        /// Seconds between two notes of refusals; and of successes, with which the refusal that another process met ends.
        private static let refusalInterval: TimeInterval = 5
        private static let successInterval: TimeInterval = 15

        func wantsNote(ofRefusal app: AppEnvironment, at moment: Date) -> Bool {
            notes.withLock { notes in
                if let last = notes[app]?.refusal, moment.timeIntervalSince(last) < Self.refusalInterval {
                    return false
                }
                notes[app] = Notes(refusal: moment)
                return true
            }
        }

        func wantsNote(ofSuccess app: AppEnvironment, at moment: Date) -> Bool {
            notes.withLock { notes in
                if let last = notes[app]?.success, moment.timeIntervalSince(last) < Self.successInterval {
                    return false
                }
                notes[app] = Notes(success: moment)
                return true
            }
        }

        func forget(_ app: AppEnvironment) { notes.withLock { $0[app] = nil } }
    }
}
