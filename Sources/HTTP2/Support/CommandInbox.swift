internal import NIOConcurrencyHelpers

/// Orders from any thread to an event loop, in order, with one wake-up per batch.
///
/// A wake-up of the loop is a system call and a trip through its task queue; with one per request instead of one per
/// batch the loop does little else under load.
struct CommandInbox<Command: Sendable>: Sendable {
    private struct State {
        var commands: [Command] = []
        /// Emptied storage, kept for its capacity.
        var spare: [Command] = []
    }

    private let state = NIOLockedValueBox(State())

    /// True when the receiver must be woken: the inbox was empty.
    func append(_ command: Command) -> Bool {
        state.withLockedValue { state in
            state.commands.append(command)
            return state.commands.count == 1
        }
    }

    /// Everything that came since the last call. Give the array back with `recycle`.
    func takeAll() -> [Command] {
        state.withLockedValue { state in
            guard !state.commands.isEmpty else { return [] }
            let taken = state.commands
            state.commands = state.spare
            state.spare = []
            return taken
        }
    }

    func recycle(_ commands: consuming [Command]) {
        commands.removeAll(keepingCapacity: true)
        let emptied = commands
        state.withLockedValue { $0.spare = emptied }
    }

    /// Commands not taken yet.
    var count: Int { state.withLockedValue { $0.commands.count } }
}
