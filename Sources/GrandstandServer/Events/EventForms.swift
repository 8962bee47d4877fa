internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Resource {
    /// The forms on an event's page, other than its composer. `EventPages` shows the events themselves.
    static let eventForms = Resource(
        path: "/events", scope: .organise,
        links: { [Piece.Link(label: "The event", href: $0.fill("/events/:key"))] },
        detail: Detail(
            operation: .getEvent, path: "/:key", hasPage: false, title: { event, _ in event.text("name") },
            facts: [
                Field("name", as: "Event"), "state",
                Field("audiences", as: "Channels") { audiences in
                    .quoted(Wording.tally((audiences.elements ?? []).map { $0["channel"]?.text("state") ?? "" }))
                },
            ]),
        actions: [
            Action(
                path: "/:key/broadcasts/:id/withdraw", operation: .cancelBroadcast, label: "Withdraw",
                notice: { _, _ in "The broadcast was withdrawn. The earlier content is current again." }),
            Action(
                path: "/:key/cancel", operation: .cancelEvent, label: "Cancel it",
                words: [
                    "The event takes no more messages, what waits is not sent, and its channels retire.",
                    "With an end message, the activities on lock screens end, too. Without it, they stay until they are "
                        + "stale or twelve hours old.",
                    "You can reopen the event while its channels exist. Activities that received the end stay ended.",
                ], flags: ["end"], asks: true,
                notice: { _, fields in
                    fields["end"] == "true"
                        ? "It is cancelled; a last end is on its way." : "It is cancelled. No end was sent."
                }),
            Action(
                path: "/:key/reopen", operation: .reopenEvent, label: "Reopen it",
                words: [
                    "The event takes messages again, with the channels that still exist. An end that is still waiting is "
                        + "withdrawn. Where it may have been sent, the newest content is sent again, for phones that "
                        + "were offline.",
                    "An activity that received the end cannot be restored. The sooner you reopen, the fewer are lost. "
                        + "The followers of a channel that was deleted are lost.",
                ], asks: true,
                notice: { event, _ in (["The event is reopened."] + event.texts("warnings")).joined(separator: " ") }),
            Action(
                path: "/:key/start", operation: .startEvent, label: "Start now",
                words: [
                    "A push starts the activity on the phones of all who follow one of its topics. A start goes to a phone "
                        + "once, and cannot be taken back there."
                ], asks: true,
                trial: (
                    #"{"dryRun": true}"#,
                    [
                        Field("counts", as: "Followers") { .words(Wording.number($0.integer("followers"))) },
                        Field("counts", as: "Would get it") { .words(Wording.number($0.integer("pending"))) },
                    ]
                ), notice: { _, _ in "The start is being sent." }),
            Action(
                path: "/:key/stop", operation: .stopStart, label: "Stop",
                notice: { _, _ in "Pushes that were not sent yet are stopped. “Start now” sends them." }),
            Action(
                path: "/:key/move", operation: .patchEvent, label: "Move it",
                patch: [.init("startsAt", .time), .init("endsAt", .time)],
                notice: { event, _ in (["It is moved."] + event.texts("warnings")).joined(separator: " ") }),
        ])
}
