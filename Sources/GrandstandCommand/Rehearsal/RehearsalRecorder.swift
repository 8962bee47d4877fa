internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Synchronization

/// Keeps the requests that Apple accepted during a run; the simulator's journal forgets.
final class RehearsalRecorder: Sendable {
    private struct Seen {
        let at: Date
        let operation: Route.Operation
        let environment: APNsEnvironment
        let path: String
        let channelID: String
        let body: [UInt8]
    }

    private let seen = Mutex<[Seen]>([])

    /// Notes every request until the task is cancelled.
    func listen(to simulator: Simulator) -> Task<Void, Never> {
        Task {
            // A wait for requests none of which is the one: it looks at each as it is recorded.
            _ = try? await simulator.requests(1) { entry in
                self.note(entry)
                return false
            }
        }
    }

    private func note(_ entry: JournalEntry) {
        guard let operation = entry.operation, [.create, .delete, .broadcast, .device].contains(operation),
            (200..<300).contains(entry.status)
        else { return }
        let isMessage = operation == .broadcast || operation == .device
        let request = entry.request
        seen.withLock {
            $0.append(
                Seen(
                    at: entry.time, operation: operation, environment: request.environment, path: request.path,
                    channelID: request[header: APNsHeader.channelID] ?? "", body: isMessage ? request.body : []))
        }
    }

    /// Adds the observations to a record.
    ///
    /// - Parameter apps: those with a limit.
    func fill(_ record: inout RehearsalRecord, apps: some Sequence<AppEnvironment>) {
        let places = Dictionary(
            apps.map { ("\($0.environment.rawValue) \(APNsPath.channels(of: $0.bundleID.rawValue).lowercased())", $0) }
        ) { first, _ in first }
        for seen in seen.withLock({ $0 }) {
            switch seen.operation {
            case .create, .delete:
                guard let app = places["\(seen.environment.rawValue) \(seen.path.lowercased())"] else { continue }
                record.placeChanges.append(.init(app: app, at: seen.at, by: seen.operation == .create ? 1 : -1))
            case .broadcast:
                guard let mark = RehearsalMark(seen.body) else { continue }
                record.arrivals.append(
                    .init(event: mark.event, channelID: seen.channelID, number: mark.number, at: seen.at))
            case .device:
                guard (try? JSONValue(parsing: seen.body))?["aps"]?["event"]?.string == "start" else { continue }
                record.starts.append(seen.at)
            default: continue
            }
        }
    }
}
