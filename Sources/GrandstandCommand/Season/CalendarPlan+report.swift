internal import Grandstand
internal import JSON

/// The report on what a run changed or would change.
extension CalendarPlan: JSONObjectWritable {
    func write(members object: inout JSONWriter) {
        object.member("create", create)
        object.member("change", change)
        object.member("cancel", cancel)
        object.member("unchanged", unchanged)
        object.member("past", past)
        object.member("problems", problems)
    }
}

extension CalendarPlan.Write: JSONObjectWritable {
    func write(members object: inout JSONWriter) {
        object.member("eventKey", key.rawValue)
        object.member("uid", uid)
        object.member("name", raw: declaration["name"])
        object.member("startsAt", raw: declaration["startsAt"])
        if !fields.isEmpty {
            object.object("fields") { object in
                for field in fields {
                    object.name(dynamic: field.name)
                    object.array([field.old, field.new]) { writer, value in
                        if let value { writer.raw(value) } else { writer.null() }
                    }
                }
            }
        }
        if let reason { object.member("reason", reason.rawValue) }
    }
}
