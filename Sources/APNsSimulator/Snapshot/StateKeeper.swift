internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// Writes a simulator's state to its file: after changes, at most once a second, and at the end.
final class StateKeeper: Sendable {
    private static let pause = Duration.seconds(1)

    private let core: SimulatorCore
    private let path: String
    private let logger: Logger
    private let written = Mutex(0)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter path: the path of the file; its folder is created.
    /// - Throws: if the file exists but cannot be read, or is not a snapshot. Then nothing is overwritten.
    init(_ core: SimulatorCore, path: String, logger: Logger) throws(SimulatorError) {
        self.core = core
        self.path = path
        self.logger = logger
        let folder = try Folder(Self.folder(of: path))
        if let text = try folder.read(Self.name(of: path)) {
            let failure = core.change { memory, _ -> SimulatorError? in
                do throws(SimulatorError) {
                    try Snapshot.restore(Array(text.utf8), into: &memory.apns, at: path)
                    return nil
                } catch {
                    return error
                }
            }
            if let failure { throw failure }
        }
    }

    func start() {
        let loop = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                if !Task.isCancelled { write() }
            }
        }
        task.withLock { $0 = loop }
    }

    /// Stops, and writes a last time.
    func stop() async {
        let loop = task.withLock { $0 }
        loop?.cancel()
        await loop?.value
        write()
    }

    /// Replaces the file, if the state has changed since the last write.
    private func write() {
        let written = written.withLock { $0 }
        // Take a copy only if the state has changed, because while the copy exists, the next change must copy the state
        // again (copy-on-write).
        let state = core.change { memory, _ in memory.apns.revision == written ? nil : memory.apns }
        guard let state else { return }
        do throws(SimulatorError) {
            let text = String(decoding: Snapshot.text(of: state), as: UTF8.self)
            try Folder(Self.folder(of: path)).write(text, to: Self.name(of: path), access: .owner)
            self.written.withLock { $0 = state.revision }
        } catch {
            logger.error("the state could not be written", metadata: ["reason": "\(error)"])
        }
    }

    private static func folder(of path: String) -> String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return path.hasPrefix("/") && folder.isEmpty ? "/" : folder.isEmpty ? "." : folder
    }

    private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}
