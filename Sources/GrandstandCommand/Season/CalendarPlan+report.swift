internal import Grandstand
internal import JSON

extension CalendarPlan {
    /// The report on what a run changed or would change, as JSON.
    var report: [UInt8] {
        JSONWriter.text { object in
            object.array("create", create) { $1.write(to: &$0) }
            object.array("change", change) { $1.write(to: &$0) }
            object.array("cancel", cancel) { $1.write(to: &$0) }
            object.member("unchanged", unchanged)
            object.member("past", past)
            object.member("problems", problems)
        }
    }
}

extension CalendarPlan.Write {
    fileprivate func write(to json: inout JSONWriter) {
        json.object { object in
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
}
