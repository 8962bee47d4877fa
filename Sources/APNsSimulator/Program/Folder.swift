internal import Cryptography
internal import Foundation

/// The simulator's folder with a few small files. Only the owner can read the private ones.
struct Folder {
    enum Access: mode_t {
        case everyone = 0o644
        case owner = 0o600
    }

    let path: String

    /// Creates the folder if it does not exist.
    init(_ path: String) throws {
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
    func read(_ name: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path(name)) else { return nil }
        guard let data = FileManager.default.contents(atPath: path(name)),
            let text = String(validating: data, as: UTF8.self)
        else { throw SimulatorError("\(path(name)) cannot be read: check its permissions and that it is PEM text.") }
        return text
    }

    /// The EC P-256 key in a file; `nil` if there is none.
    ///
    /// - Parameter advice: what to do if the file has no such key, without a full stop.
    func key(_ name: String, advice: String) throws -> PrivateKey? {
        guard let text = try read(name) else { return nil }
        guard let key = try? PrivateKey.p256(pem: Array(text.utf8)) else {
            throw SimulatorError("\(path(name)) is not an EC P-256 private key in PEM: \(advice).")
        }
        return key
    }

    /// Replaces a file atomically. Another process reads either the old or the new text, and a private file never has
    /// wider access.
    func write(_ text: String, to name: String, access: Access) throws {
        let temporary = path(".\(name).\(getpid()).\(UInt32.random(in: .min ... .max))")
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, access.rawValue)
        guard file >= 0, fchmod(file, access.rawValue) == 0,
            (try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: Data(text.utf8))) != nil,
            rename(temporary, path(name)) == 0
        else {
            let cause = String(cString: strerror(errno))
            unlink(temporary)
            throw SimulatorError(
                "\(path(name)) cannot be written (\(cause)): name a folder you may write to with --dir.")
        }
    }

    /// Names of the files in the folder, sorted.
    func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw SimulatorError("The folder \(path) cannot be listed: check its permissions.")
        }
    }
}
