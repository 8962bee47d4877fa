internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A file descriptor. It is closed with its last reference, and never inherited by accident (close-on-exec).
final class Descriptor: Sendable {
    let number: Int32

    private init(_ number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Opens a file. Only the owner can access a new file.
    static func open(_ path: String, _ flags: Int32) throws -> Descriptor {
        #if canImport(Darwin)
            let number = Darwin.open(path, flags | O_CLOEXEC, 0o600)
        #else
            let number = Glibc.open(path, flags | O_CLOEXEC, 0o600)
        #endif
        guard number >= 0 else { throw SystemError(code: errno, call: "open \(path)") }
        return Descriptor(number)
    }

    static func pipe() throws -> (read: Descriptor, write: Descriptor) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
            // Between `pipe` and `fcntl`, another thread could start a process that inherits the two ends of the pipe.
            // Our own child processes do not inherit them.
            guard Darwin.pipe(&ends) == 0 else { throw SystemError(code: errno, call: "make a pipe") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #else
            // A pair of sockets works like a pipe and is close-on-exec from the beginning. Swift does not import pipe2.
            let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
            guard socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else {
                throw SystemError(code: errno, call: "make a pair of sockets")
            }
        #endif
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// A copy with the lowest free number that is not below `lowest`.
    func copy(from lowest: Int32) throws -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, lowest)
        guard copy >= 0 else { throw SystemError(code: errno, call: "copy a descriptor") }
        return Descriptor(copy)
    }
}

/// An error number of the system, and the operation that failed.
struct SystemError: Error, CustomStringConvertible {
    let code: Int32
    let call: String

    /// The system's message for the number.
    var why: String { String(cString: strerror(code)) }
    var description: String { "cannot \(call): \(why)" }
}
