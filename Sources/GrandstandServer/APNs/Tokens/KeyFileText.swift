/// The text of a key file. OpenSSL reads only its usual form. People also have it on one line, with `\n` in place of
/// line breaks, indented, with other line lengths, or after another block such as `EC PARAMETERS`.
struct KeyFileText {
    /// The block with the private key in the usual form.
    let pem: [UInt8]

    /// What the text is instead, for people. It contains nothing of the text.
    struct Shape: Error {
        let words: String

        init(_ words: String) { self.words = words }
    }

    init(_ bytes: [UInt8]) throws(Shape) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw Shape("it is UTF-16 with a byte order mark (BOM): save it as UTF-8")
        }
        let text = String(decoding: bytes, as: UTF8.self).replacing("\\r", with: "").replacing("\\n", with: "\n")
        guard
            let label = ["PRIVATE KEY", "EC PRIVATE KEY"].first(where: { text.contains("-----BEGIN \($0)-----") }),
            let begin = text.firstRange(of: "-----BEGIN \(label)-----")
        else { throw Self.shape(of: text) }
        let rest = text[begin.upperBound...]
        guard let end = rest.firstRange(of: "-----END \(label)-----") else {
            throw Shape("its block \(label) does not end: the file has only \(bytes.count) bytes")
        }
        let digits = rest[..<end.lowerBound].utf8.filter(Self.isBase64)
        let lines = stride(from: 0, to: digits.count, by: 64).map {
            String(decoding: digits[$0..<min($0 + 64, digits.count)], as: UTF8.self)
        }
        let block = ["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]
        pem = Array(block.joined(separator: "\n").utf8)
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): true
        default: false
        }
    }

    private static func shape(of text: String) -> Shape {
        for label in ["ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE"]
        where text.contains("-----BEGIN \(label)-----") {
            return Shape("it has a block \(label) and no block PRIVATE KEY")
        }
        if text.allSatisfy(\.isWhitespace) { return Shape("it is empty") }
        if text.hasPrefix("LS0tLS1") { return Shape("it is base64 of a PEM text: decode it once") }
        return Shape("it has no block PRIVATE KEY with its BEGIN and END")
    }
}
