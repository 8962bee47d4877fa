internal import Foundation
internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A child process that inherits only what it is given. It has its own session, so that Ctrl-C in a terminal does not
/// reach it. Its signals have their default actions. It has only the descriptors that are passed to `init`.
final class ChildProcess: Sendable {
    /// How a process ended.
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
        /// Other code in this process took the child's status, or this process ignores SIGCHLD.
        case unknown

        var isSuccess: Bool { self == .exited(0) }
    }

    private enum State {
        case running([CheckedContinuation<Ending, Never>])
        case ended(Ending)
    }

    let pid: pid_t
    private let state = Mutex(State.running([]))

    /// Starts `arguments[0]`, an absolute path. The child gets a copy of each descriptor, with the key as its number.
    /// Without an entry for 0, standard input is empty. Without an entry for 1 or 2, standard output or error is
    /// discarded.
    ///
    /// - Throws: `SystemError` if it cannot be started.
    init(_ arguments: [String], environment: [String: String], descriptors: [Int32: Descriptor] = [:]) throws {
        pid = try Self.spawn(arguments, environment: environment, descriptors: descriptors)
        // The wait has its own thread, because a wait that blocks must not use the threads of async code.
        let waiter = Thread { [self] in finish(Self.wait(for: pid)) }
        waiter.stackSize = 256 << 10
        waiter.start()
    }

    /// Waits until the child ends, and returns how it ended. Cancelling the caller does not stop the wait, so end the
    /// child instead.
    var ending: Ending {
        get async {
            await withCheckedContinuation { continuation in
                let already: Ending? = state.withLock { state in
                    switch state {
                    case .ended(let ending): return ending
                    case .running(let waiting):
                        state = .running(waiting + [continuation])
                        return nil
                    }
                }
                if let already { continuation.resume(returning: already) }
            }
        }
    }

    /// How the child ended; nil while it runs.
    var endingSoFar: Ending? {
        state.withLock { if case .ended(let ending) = $0 { ending } else { nil } }
    }

    private func finish(_ ending: Ending) {
        let waiting: [CheckedContinuation<Ending, Never>] = state.withLock { state in
            guard case .running(let waiting) = state else { return [] }
            state = .ended(ending)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: ending) }
    }

    private static func wait(for pid: pid_t) -> Ending {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 {
            guard errno == EINTR else { return .unknown }
        }
        // This replaces the macros WTERMSIG and WEXITSTATUS, which Swift does not import. The low seven bits are the
        // signal, the next eight the exit status.
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
}
