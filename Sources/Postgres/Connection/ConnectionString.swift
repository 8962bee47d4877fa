internal import CLibPQ

/// Checks of a connection string that need no connection.
package enum ConnectionString {
    /// Why libpq could never connect with this text; `nil`: no fault was found. The result contains no part of the text
    /// except the name of an option.
    package static func fault(in text: String) -> String? {
        if let scheme = text.firstRange(of: "://"), !["postgres", "postgresql"].contains(text[..<scheme.lowerBound]),
            !text[..<scheme.lowerBound].contains("=")
        {
            return "its scheme is neither postgres nor postgresql"
        }
        // libpq interprets a single word as the name of a database.
        guard text.contains("=") || text.contains("://") else { return nil }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            defer { PQfreemem(message) }
            return fault(message.map { String(cString: $0) } ?? "it cannot be read")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return fault(in: values)
    }

    /// libpq's message without the text it could not parse, because that may be the password or the whole string.
    private static func fault(_ message: String) -> String {
        let line = message.trimmed
        guard let quote = line.firstIndex(of: "\"") else { return line }
        for kind in ["invalid connection option", "invalid URI query parameter"] where line.hasPrefix(kind) {
            let name = line[quote...].dropFirst().prefix { $0 != "\"" }
            if name.utf8.count <= 32, name.allSatisfy({ $0.isLowercase || $0 == "_" }) {
                return "it has an option that PostgreSQL does not know, \(name)"
            }
        }
        if line.hasPrefix("invalid percent-encoded token") {
            return "it has a % without two hexadecimal digits after it (write % itself as %25)"
        }
        if line.hasPrefix("missing \"=\"") { return "it has a word that is no pair of an option and its value" }
        if line.hasPrefix("end of string reached") { return "its [ has no ]" }
        return String(line[..<quote].replacing(/[ :]+$/, with: ""))
    }

    /// Checks options that libpq checks only when it connects.
    private static func fault(in values: [String: String]) -> String? {
        for (name, words) in choices {
            if let value = values[name], !value.isEmpty, !words.contains(value) {
                return "its \(name) is none of \(words.joined(separator: ", "))"
            }
        }
        func list(_ name: String) -> [Substring] {
            values[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
        }
        let ports = list("port")
        for port in ports where !port.isEmpty && !(Int(port).map((1...65_535).contains) ?? false) {
            return "its port is not a number from 1 to 65535"
        }
        let hosts = max(list("host").count, list("hostaddr").count, 1)
        guard ports.count <= 1 || ports.count == hosts else { return "it has \(ports.count) ports for \(hosts) hosts" }
        if let seconds = values["connect_timeout"], !seconds.isEmpty, Int(seconds) == nil {
            return "its connect_timeout is not a whole number of seconds"
        }
        return nil
    }

    private static let choices: [(name: String, words: [String])] = [
        ("sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        ("target_session_attrs", ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]),
    ]
}
