/// One parameter: its type, and its bytes in Postgres' binary format; no bytes for NULL.
package struct PostgresBinding: Sendable, Hashable {
    package let type: PostgresType
    package let bytes: [UInt8]?

    package init<Value: PostgresEncodable>(_ value: Value) {
        type = Value.postgresType
        var bytes: [UInt8] = []
        value.encode(into: &bytes)
        self.bytes = bytes
    }

    package init<Value: PostgresEncodable>(nullOf: Value.Type) {
        type = Value.postgresType
        bytes = nil
    }
}
