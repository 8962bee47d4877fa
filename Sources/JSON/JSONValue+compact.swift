extension JSONValue {
    /// The value without white space between its parts.
    package var compact: [UInt8] {
        var json = JSONWriter()
        copy(to: &json)
        return json.bytes
    }

    private func copy(to json: inout JSONWriter) {
        switch kind {
        case .null, .bool, .number, .string: json.raw(source)
        case .array(let elements): json.array(elements) { $1.copy(to: &$0) }
        case .object(let members):
            json.object { object in
                for member in members {
                    object.name(dynamic: member.name)
                    member.value.copy(to: &object)
                }
            }
        }
    }
}
