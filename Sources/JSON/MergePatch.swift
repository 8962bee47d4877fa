/// JSON Merge Patch (RFC 7396). Members that a patch does not name stay byte for byte.
package enum MergePatch {
    /// The target with the patch applied, also in nested objects. `null` removes a member.
    ///
    /// - Parameter keepsNulls: whether removed members of the outermost object stay as `null`, so that their names can
    ///   still be checked.
    package static func apply(_ patch: JSONValue, to target: JSONValue?, keepsNulls: Bool = false) -> [UInt8] {
        guard case .object(let changes) = patch.kind else { return patch.bytes }
        var present: [(name: String, value: JSONValue)] = []
        if case .object(let members)? = target?.kind { present = members }
        let changed = Dictionary(changes.map { ($0.name, $0.value) }) { first, _ in first }
        let names = Set(present.map(\.name))
        return JSONWriter.text { object in
            for (name, value) in present {
                guard let change = changed[name] else {
                    object.name(dynamic: name)
                    object.raw(value.source)
                    continue
                }
                write(change, over: value, as: name, keepsNulls, to: &object)
            }
            for (name, value) in changes where !names.contains(name) {
                write(value, over: nil, as: name, keepsNulls, to: &object)
            }
        }
    }

    private static func write(
        _ change: JSONValue, over value: JSONValue?, as name: String, _ keepsNulls: Bool, to object: inout JSONWriter
    ) {
        if case .null = change.kind, !keepsNulls { return }
        object.name(dynamic: name)
        object.raw(apply(change, to: value))
    }
}
