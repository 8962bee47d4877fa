internal import Foundation
internal import Grandstand
package import JSON

/// What a run changed or would change.
package struct CalendarReport: Sendable {
    package var create: [CalendarPlan.Write]
    package var change: [CalendarPlan.Write]
    package var cancel: [CalendarPlan.Cancellation]
    package var unchanged: Int
    package var past: Int
    package var problems: [CalendarProblem]

    package init(_ plan: CalendarPlan) {
        create = plan.create
        change = plan.change
        cancel = plan.cancel
        unchanged = plan.unchanged
        past = plan.past
        problems = plan.problems
    }

    /// Whether the file has entries, and none of them could be read.
    package var isOfProblemsOnly: Bool {
        !problems.isEmpty && create.isEmpty && change.isEmpty && cancel.isEmpty && unchanged == 0 && past == 0
    }
}

extension CalendarReport: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.array("create", create) { writer, write in
            writer.object { Self.identify(&$0, write.uid, write.key, write.document) }
        }
        object.objects("change", change) { change, write in
            Self.identify(&change, write.uid, write.key, write.document)
            change.object("fields") { fields in
                for field in write.fields {
                    fields.name(dynamic: field.name)
                    fields.array([field.old, field.new]) { writer, value in
                        if let value { writer.raw(value) } else { writer.null() }
                    }
                }
            }
        }
        object.objects("cancel", cancel) { event, cancellation in
            Self.identify(&event, cancellation.uid, cancellation.event.key, cancellation.event.document)
            event.member("reason", cancellation.reason.rawValue)
        }
        object.member("unchanged", unchanged)
        object.member("past", past)
        object.member("problems", problems)
    }

    private static func identify(
        _ json: inout JSONWriter, _ uid: String, _ key: EventKey, _ document: EventDocument
    ) {
        json.member("eventKey", key.rawValue)
        json.member("uid", uid)
        json.member("name", raw: document["name"] ?? Array("null".utf8))
        json.member("startsAt", raw: document["startsAt"] ?? Array("null".utf8))
    }
}

extension CalendarProblem: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        object.member("line", line)
        object.member("detail", detail)
        object.member("uid", uid)
    }
}
