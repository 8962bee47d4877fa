internal import NIOConcurrencyHelpers

/// Orders from any thread to an event loop, in order, with one wake-up per batch.
///
/// A wake-up of the loop is a system call and a trip through its task queue; with one per request instead of one per
/// batch the loop does little else under load.
///
/// While answers are handed out to callers on other threads most of them come back with their next order at once. Then
/// the receiver is woken for every `burst` orders and at the end, not for the first: on a processor that both sides
/// share each early wake-up takes it from callers that still have an order to give.
struct CommandInbox<Command: Sendable>: Sendable {
    private struct State {
        var commands: [Command] = []
        /// Emptied storage, kept for its capacity.
        var spare: [Command] = []
        /// Handouts under way.
        var handouts = 0
    }

    /// Orders that are worth a wake-up of their own.
    static var burst: Int { 64 }

    private let state = NIOLockedValueBox(State())

    /// True when the receiver must be woken: the inbox was empty; or, during a handout, has filled up, or the command is
    /// urgent.
    func append(_ command: Command, isUrgent: Bool = false) -> Bool {
        state.withLockedValue { state in
            state.commands.append(command)
            if state.handouts > 0 { return isUrgent || state.commands.count == Self.burst }
            return state.commands.count == 1
        }
    }

    /// Answers are being handed out. Each call is followed by one of `endHandout`.
    func beginHandout() { state.withLockedValue { $0.handouts += 1 } }

    /// True when the receiver must be woken for what came during the handout.
    func endHandout() -> Bool {
        state.withLockedValue { state in
            state.handouts -= 1
            return state.handouts == 0 && !state.commands.isEmpty
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
