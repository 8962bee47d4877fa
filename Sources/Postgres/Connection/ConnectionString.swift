internal import CLibPQ

/// A check of a connection string that needs no connection.
package enum ConnectionString {
    /// Whether libpq can read `text`. Its own message is not shown, because it may contain the password.
    package static func isReadable(_ text: String) -> Bool {
        // libpq interprets a single word as the name of a database.
        guard text.contains("=") || text.contains("://") else { return true }
        guard let options = PQconninfoParse(text, nil) else { return false }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            let value = option.pointee.val.map { String(cString: $0) } ?? ""
            if !value.isEmpty, !isAllowed(value, of: String(cString: keyword)) { return false }
            option += 1
        }
        return true
    }

    /// Whether an option may have this value. libpq checks these options only when it connects.
    private static func isAllowed(_ value: String, of option: String) -> Bool {
        switch option {
        case "sslmode": ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"].contains(value)
        case "target_session_attrs":
            ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"].contains(value)
        case "port": value.split(separator: ",").allSatisfy { Int($0).map((1...65_535).contains) ?? false }
        default: true
        }
    }
}
