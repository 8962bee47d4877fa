/// SQL text with parameters, built by string interpolation. Interpolated values are always parameters, so no value of a
/// caller ever becomes SQL.
///
///     let query: PostgresQuery = "select name from apps where bundle_id = \(bundleID)"
package struct PostgresQuery: Sendable {
    /// The text with `$1`, `$2`, … in place of the values.
    package var sql: String
    package var bindings: [PostgresBinding]

    /// Uses text that is not built by interpolation. It must be a constant of this program, never a caller's text.
    package init(unsafeSQL: String, bindings: [PostgresBinding] = []) {
        sql = unsafeSQL
        self.bindings = bindings
    }
}

extension PostgresQuery: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self.init(unsafeSQL: value) }

    package init(stringInterpolation: StringInterpolation) {
        self.init(unsafeSQL: stringInterpolation.sql, bindings: stringInterpolation.bindings)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        var sql: String
        var bindings: [PostgresBinding] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql = ""
            sql.reserveCapacity(literalCapacity + interpolationCount * 4)
            bindings.reserveCapacity(interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { sql += literal }

        /// A value as a parameter.
        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            append(PostgresBinding(value))
        }

        /// A value or NULL as a parameter.
        package mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            append(value.map { PostgresBinding($0) } ?? PostgresBinding(nullOf: Value.self))
        }

        /// Inserts another query's text, with its parameters renumbered.
        package mutating func appendInterpolation(_ query: PostgresQuery) {
            sql += Self.renumber(query.sql, by: query.bindings.isEmpty ? 0 : bindings.count)
            bindings += query.bindings
        }

        private mutating func append(_ binding: PostgresBinding) {
            bindings.append(binding)
            sql += "$\(bindings.count)"
        }

        /// Adds `offset` to every `$n`. Our texts have a dollar sign before a digit nowhere else.
        private static func renumber(_ sql: String, by offset: Int) -> String {
            guard offset > 0 else { return sql }
            var result = ""
            result.reserveCapacity(sql.utf8.count + 16)
            var rest = sql[...]
            while let dollar = rest.firstIndex(of: "$") {
                result += rest[...dollar]
                rest = rest[rest.index(after: dollar)...]
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                guard let number = Int(digits) else { continue }
                result += String(number + offset)
                rest = rest[digits.endIndex...]
            }
            return result + rest
        }
    }
}
