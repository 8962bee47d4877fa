internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Reads the body of a form.
enum FormBody {
    /// Fields a form may have: those of no page come near it, and each that is refused is shown again.
    static let maximumFields = 500

    /// - Throws: `unsupported-media-type`, `body-too-large`, `invalid-request`.
    static func fields(of request: Request, upTo limit: Int) async throws -> FormFields {
        let type = request.headers[.contentType] ?? ""
        let isParts = type.lowercased().hasPrefix("multipart/form-data")
        guard isParts || type.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
            throw Problem(.unsupportedMediaType, "This takes a form of the console's pages only.")
        }
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= limit else {
                throw Problem(.bodyTooLarge, "The form may have \(limit) bytes at most. Nothing was sent.")
            }
            bytes += buffer.readableBytesView
        }
        guard isParts || bytes.count(where: { $0 == UInt8(ascii: "&") }) < maximumFields else { throw tooMany }
        guard isParts else { return try FormFields(String(decoding: bytes, as: UTF8.self)).storable() }
        guard let boundary = Self.boundary(type), let fields = FormFields(parts: bytes, boundary: boundary) else {
            throw Problem(.invalidRequest, "The form's parts cannot be told apart, or are too many.")
        }
        return try fields.storable()
    }

    private static let tooMany = Problem(
        .invalidRequest, "The form may have \(maximumFields) fields at most. Nothing was sent.")

    private static func boundary(_ type: String) -> String? {
        type.split(separator: ";").lazy.map { String($0).trimmed }.first { $0.lowercased().hasPrefix("boundary=") }
            .map { String($0.dropFirst(9)).filter { $0 != "\"" } }
    }
}

extension FormFields {
    /// A form with a file in it (RFC 7578). A file's field has its content, and one more, `<name>.file`, its name.
    init?(parts bytes: [UInt8], boundary: String) {
        let mark = Array("--\(boundary)".utf8)
        let blank = Array("\r\n\r\n".utf8)
        var entries: [Entry] = []
        var starts: [Int] = []
        var index = 0
        while let found = bytes[index...].firstRange(of: mark) {
            starts.append(found.upperBound)
            index = found.upperBound
            guard starts.count <= FormBody.maximumFields else { return nil }
        }
        guard starts.count >= 2 else { return nil }
        for (start, next) in zip(starts, starts.dropFirst()) {
            let end = next - mark.count - 2
            guard start + 2 <= end else { return nil }
            let part = bytes[(start + 2)..<end]
            guard let gap = part.firstRange(of: blank) else { return nil }
            let head = String(decoding: part[..<gap.lowerBound], as: UTF8.self)
            guard let name = Self.quoted("name", in: head) else { return nil }
            entries.append(Entry(name: name, value: String(decoding: part[gap.upperBound...], as: UTF8.self)))
            if let file = Self.quoted("filename", in: head) { entries.append(Entry(name: name + ".file", value: file)) }
        }
        self.init(entries)
    }

    private static func quoted(_ name: String, in head: String) -> String? {
        guard let start = head.firstRange(of: "; \(name)=\"")?.upperBound else { return nil }
        return head[start...].firstIndex(of: "\"").map { String(head[start..<$0]) }
    }
}
