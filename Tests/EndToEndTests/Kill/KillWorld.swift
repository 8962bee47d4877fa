internal import Foundation

/// The disturbances that are added to the kills.
enum KillWorld: String, CaseIterable, Sendable {
    /// The replicas' machines have clocks that are 20 s apart.
    case clocks
    /// Another system creates and deletes channels on the same app, while events are declared.
    case foreigners
    /// APNs refuses some broadcasts to channels that exist, as if the channels did not exist.
    case falseRefusals
    /// Organisers withdraw what they have just sent.
    case withdrawals
    /// Every third match has a feed that puts its state, and repeats it until a replica answers.
    case states

    /// The faults that the test injects; `GRANDSTAND_KILL_WORLDS=clocks,withdrawals` chooses others.
    static let all: Set<KillWorld> = {
        guard let chosen = ProcessInfo.processInfo.environment["GRANDSTAND_KILL_WORLDS"] else {
            return Set(KillWorld.allCases)
        }
        return Set(chosen.split(separator: ",").compactMap { KillWorld(rawValue: String($0)) })
    }()

    /// Whether an event is fed by states.
    static func isFed(_ event: Int) -> Bool { all.contains(.states) && event.isMultiple(of: 3) }

    /// By how many seconds the clock of a replica's machine is ahead.
    static func lead(of replica: Int) -> Int { all.contains(.clocks) ? [-10, 10][replica] : 0 }
}
