internal import CCurl
internal import FoundationEssentials

/// PEM certificates that TLS trusts.
enum Authorities {
    /// The certificates of the system and of the file `path` in one PEM text, because libcurl takes only one list.
    ///
    /// - Throws: `WebhookClientError` if the file contains no certificates.
    static func withSystems(_ path: String) throws -> [UInt8] {
        guard let own = try? Data(contentsOf: URL(filePath: path)),
            String(decoding: own, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
        else { throw WebhookClientError(description: "\(path) contains no usable PEM certificates") }
        return systems + [UInt8(ascii: "\n")] + own
    }

    private static var systems: [UInt8] {
        guard let handle = curl_easy_init() else { return [] }
        defer { curl_easy_cleanup(handle) }
        guard let path = ccurl_authorities_file(handle) else { return [] }
        return (try? Data(contentsOf: URL(filePath: String(cString: path)))).map { Array($0) } ?? []
    }
}
