internal import Cryptography
internal import Foundation
internal import Logging
internal import Testing

@testable internal import GrandstandServer

/// Certificates are read again when their files change, and used only if they are valid.
struct TLSCertificatesTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A folder with a certificate and its key.
    private struct Files {
        let folder: URL
        var tls: Configuration.TLS {
            Configuration.TLS(
                certificatePath: folder.appending(path: "cert.pem").path,
                keyPath: folder.appending(path: "key.pem").path)
        }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "tls-tests-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try write()
        }

        func write(key isKeyWanted: Bool = true) throws {
            let key = try PrivateKey.p256()
            let made = try Certificate("test", key: key, from: .now - 60, until: .now + 3_600)
            try Data(made.pem.utf8).write(to: URL(filePath: tls.certificatePath))
            if isKeyWanted { try Data(key.pem.utf8).write(to: URL(filePath: tls.keyPath)) }
        }
    }

    @Test
    func `new files replace the loaded ones, and a missing or mismatched one changes nothing until both are valid`()
        throws
    {
        let files = try Files()
        defer { try? FileManager.default.removeItem(at: files.folder) }
        let certificates = try TLSCertificates(files.tls, logger: Self.logger)
        let first = certificates.current
        let changes: [() throws -> Void] = [
            {}, { try files.write(key: false) }, { try FileManager.default.removeItem(atPath: files.tls.keyPath) },
        ]
        for change in changes {
            try change()
            #expect(certificates.current === first)
        }
        try files.write()
        #expect(certificates.current !== first)
    }

    @Test func `files without a usable certificate stop the start`() throws {
        let files = try Files()
        defer { try? FileManager.default.removeItem(at: files.folder) }
        try files.write(key: false)
        #expect(throws: StartError.self) { try TLSCertificates(files.tls, logger: Self.logger) }
    }
}
