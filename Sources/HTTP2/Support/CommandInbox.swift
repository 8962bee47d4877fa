internal import NIOConcurrencyHelpers

/// Commands from any thread to an event loop, in order, with one wake-up per batch.
///
/// Waking the loop costs a system call and a pass through its task queue. With a wake-up per request the loop would do
/// little else under load.
///
/// A handout is the time in which answers are passed to callers on other threads. Most callers send their next command
/// at once. So during a handout the first command does not wake the loop. The loop is woken when `burst` commands are
/// waiting, for an urgent command, and at the end of the handout. If the loop and the callers share a processor, an
/// early wake-up would take the processor from callers that are about to send a command.
struct CommandInbox<Command: Sendable>: Sendable {
    private struct State {
        var commands: [Command] = []
        /// An empty array, kept for its capacity.
        var spare: [Command] = []
        /// The number of handouts in progress.
        var handouts = 0
    }

    /// The number of commands that justify a wake-up during a handout.
    static var burst: Int { 64 }

    private let state = NIOLockedValueBox(State())

    /// Returns whether the receiver must be woken. Outside a handout, it must be woken if the inbox was empty before.
    /// During a handout, it must be woken if the inbox now has `burst` commands, or if the command is urgent.
    func append(_ command: Command, isUrgent: Bool = false) -> Bool {
        state.withLockedValue { state in
            state.commands.append(command)
            if state.handouts > 0 { return isUrgent || state.commands.count == Self.burst }
            return state.commands.count == 1
        }
    }

    /// Begins a handout of answers. Each call must be followed by `endHandout`.
    func beginHandout() { state.withLockedValue { $0.handouts += 1 } }

    /// Returns whether the receiver must be woken for commands that came during the handout.
    func endHandout() -> Bool {
        state.withLockedValue { state in
            state.handouts -= 1
            return state.handouts == 0 && !state.commands.isEmpty
        }
    }

    /// All commands since the last call. Return the array with `recycle`.
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

    /// The number of commands that were not taken yet.
    var count: Int { state.withLockedValue { $0.commands.count } }
}
