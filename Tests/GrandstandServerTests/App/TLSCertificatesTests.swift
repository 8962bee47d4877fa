internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Certificates are read again when their files change, and used only if they are valid.
struct TLSCertificatesTests {
    /// A folder with a certificate and its key.
    private struct Files {
        let folder: TemporaryFolder
        var tls: Configuration.TLS {
            Configuration.TLS(certificatePath: folder.file("cert.pem"), keyPath: folder.file("key.pem"))
        }

        init() throws {
            folder = try TemporaryFolder()
            try write()
        }

        func write(key isKeyWanted: Bool = true) throws {
            let key = try PrivateKey.p256()
            let made = try Certificate("test", key: key, from: .now - 60, until: .now + 3_600)
            try folder.write(made.pem, to: "cert.pem")
            if isKeyWanted { try folder.write(key.pem, to: "key.pem") }
        }
    }

    @Test
    func `new files replace the loaded ones, and a missing or mismatched one changes nothing until both are valid`()
        throws
    {
        let files = try Files()
        let certificates = try TLSCertificates(files.tls, logger: LoopSample.logger)
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
        try files.write(key: false)
        #expect(throws: ExitError.self) { try TLSCertificates(files.tls, logger: LoopSample.logger) }
    }
}
