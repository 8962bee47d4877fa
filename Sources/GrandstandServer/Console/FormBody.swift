internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Reads the body of a form.
enum FormBody {
    /// The maximum number of fields in a form. No page has nearly as many fields. The limit also bounds the answer to a
    /// refused form, which shows all fields again.
    static let maximumFields = 500

    /// - Throws: `unsupported-media-type`, `body-too-large`, `invalid-request`.
    static func fields(of request: Request, upTo limit: Int) async throws -> FormFields {
        let type = request.headers[.contentType] ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
            throw Problem(.unsupportedMediaType, "Only forms of the console's pages are accepted here.")
        }
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= limit else {
                throw Problem(.bodyTooLarge, "The form may have \(limit) bytes at most. Nothing was sent.")
            }
            bytes += buffer.readableBytesView
        }
        guard bytes.count(where: { $0 == UInt8(ascii: "&") }) < maximumFields else { throw tooMany }
        return try FormFields(String(decoding: bytes, as: UTF8.self)).storable()
    }

    private static let tooMany = Problem(
        .invalidRequest, "The form may have \(maximumFields) fields at most. Nothing was sent.")
}
