internal import Grandstand
internal import JSON

extension CalendarPlan {
    /// The report on what a run changed or would change, as JSON.
    var report: [UInt8] {
        JSONWriter.text { object in
            for (name, writes) in [("create", create), ("change", change), ("cancel", cancel)] {
                object.name(dynamic: name)
                object.array(writes) { json, write in json.object { write.write(to: &$0) } }
            }
            object.member("unchanged", unchanged)
            object.member("past", past)
            object.member("problems", problems)
        }
    }
}

extension CalendarPlan.Write {
    fileprivate func write(to object: inout JSONWriter) {
        object.member("eventKey", key.rawValue)
        object.member("uid", uid)
        object.member("name", raw: declaration["name"])
        object.member("startsAt", raw: declaration["startsAt"])
        if !fields.isEmpty {
            object.object("fields") { object in
                for field in fields {
                    object.name(dynamic: field.name)
                    object.array([field.old, field.new]) { $0.raw($1 ?? Array("null".utf8)) }
                }
            }
        }
        if let reason { object.member("reason", reason.rawValue) }
    }
}
