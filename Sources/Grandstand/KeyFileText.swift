/// The text of a key file. OpenSSL reads only its usual form. People also have it on one line, with `\n` in place of
/// line breaks, indented, with other line lengths, or after another block such as `EC PARAMETERS`.
package struct KeyFileText {
    /// The block with the private key in the usual form.
    package let pem: [UInt8]

    /// What the text is instead, for people. It contains nothing of the text.
    package struct Fault: Error {
        package let words: String

        package init(_ words: String) { self.words = words }
    }

    package init(_ bytes: [UInt8]) throws(Fault) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw Fault("it is UTF-16 with a byte order mark (BOM): save it as UTF-8")
        }
        let text = String(decoding: bytes, as: UTF8.self).replacing("\\r", with: "").replacing("\\n", with: "\n")
        guard
            let label = ["PRIVATE KEY", "EC PRIVATE KEY"].first(where: { text.contains("-----BEGIN \($0)-----") }),
            let begin = text.firstRange(of: "-----BEGIN \(label)-----")
        else { throw Self.fault(of: text) }
        let rest = text[begin.upperBound...]
        guard let end = rest.firstRange(of: "-----END \(label)-----") else {
            throw Fault("its block \(label) does not end: the file has only \(bytes.count) bytes")
        }
        let digits = rest[..<end.lowerBound].filter { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=".contains($0)) }
        let lines = digits.replacing(/.{1,64}/) { "\($0.output)\n" }
        pem = Array("-----BEGIN \(label)-----\n\(lines)-----END \(label)-----\n".utf8)
    }

    private static func fault(of text: String) -> Fault {
        for label in ["ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PUBLIC KEY", "CERTIFICATE"]
        where text.contains("-----BEGIN \(label)-----") {
            return Fault("it has a block \(label) and no block PRIVATE KEY")
        }
        if text.allSatisfy(\.isWhitespace) { return Fault("it is empty") }
        if text.hasPrefix("LS0tLS1") { return Fault("it is base64 of a PEM text: decode it once") }
        return Fault("it has no block PRIVATE KEY with its BEGIN and END")
    }
}
