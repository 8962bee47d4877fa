internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The simulator's folder with a few small files. Only the owner can read the private ones.
struct Folder {
    enum Access: mode_t {
        case everyone = 0o644
        case owner = 0o600
    }

    let path: String

    /// Creates the folder if it does not exist.
    init(_ path: String) throws(SimulatorError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw SimulatorError("The folder \(path) cannot be created: name another with --dir, or create it.")
        }
    }

    func path(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// The text of a file; `nil` if there is none.
    ///
    /// - Throws: if the file exists but cannot be read as text.
    func read(_ name: String) throws(SimulatorError) -> String? {
        guard FileManager.default.fileExists(atPath: path(name)) else { return nil }
        guard let data = FileManager.default.contents(atPath: path(name)),
            let text = String(validating: data, as: UTF8.self)
        else { throw SimulatorError("\(path(name)) cannot be read: check its permissions and that it is PEM text.") }
        return text
    }

    /// Replaces a file atomically. Another process reads either the old or the new text, and a private file never has
    /// wider access.
    func write(_ text: String, to name: String, access: Access) throws(SimulatorError) {
        let temporary = path(".\(name).\(getpid()).\(UInt32.random(in: .min ... .max))")
        let bytes = Array(text.utf8)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, access.rawValue)
        guard file >= 0 else { throw failure(name) }
        let isWritten = writeAll(bytes, to: file) && fchmod(file, access.rawValue) == 0
        guard close(file) == 0, isWritten, rename(temporary, path(name)) == 0 else {
            let failure = failure(name)
            unlink(temporary)
            throw failure
        }
    }

    /// Names of the files in the folder, sorted.
    func names() throws(SimulatorError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw SimulatorError("The folder \(path) cannot be listed: check its permissions.")
        }
    }

    private func failure(_ name: String) -> SimulatorError {
        let cause = String(cString: strerror(errno))
        return SimulatorError("\(path(name)) cannot be written (\(cause)): name a folder you may write to with --dir.")
    }
}

/// Calls `write(2)` until everything is written. It is a free function, because `Folder` has a method named `write`.
private func writeAll(_ bytes: [UInt8], to file: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
