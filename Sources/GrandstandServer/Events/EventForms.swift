internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The forms that change an event, other than sending: the pages that ask first, and the actions.
struct EventForms: PageGroup {
    let reader: EventReader
    let api: API

    var routes: [PageRoute] {
        [
            PageRoute("/events/:key/cancel", .organise, askToCancel),
            PageRoute("/events/:key/reopen", .organise, askToReopen),
            PageRoute("/events/:key/start", .organise, askToStart),
        ]
    }

    var actions: [ActionRoute] {
        [
            ActionRoute("/events/:key/broadcasts/:id/withdraw", .organise, withdraw),
            ActionRoute("/events/:key/cancel", .organise, cancel),
            ActionRoute("/events/:key/reopen", .organise, reopen),
            ActionRoute("/events/:key/start", .organise, start),
            ActionRoute("/events/:key/stop", .organise, stop),
            ActionRoute("/events/:key/move", .organise, move),
        ]
    }

    // MARK: Questions

    private func askToCancel(_ visit: Visit) async throws -> PageRoute.Answer {
        let event = try await reader.event(visit)
        let key = event.value.eventKey
        return .page(
            Question(
                "Cancel \(event.value.name)?",
                [
                    "The event takes no more messages, what waits is not sent, and its channels retire.",
                    "With an end message, the activities on lock screens end, too. Without it, they stay until they are "
                        + "stale or twelve hours old.",
                    "You can reopen the event while its channels exist. Activities that received the end stay ended.",
                ],
                choices: [
                    Question.Option("Cancel it and send the end", "end", "true"),
                    Question.Option("Cancel it without an end", "end", "false"),
                ], action: ConsolePath.event(key, "cancel"), back: ("Keep it", ConsolePath.event(key))))
    }

    private func askToReopen(_ visit: Visit) async throws -> PageRoute.Answer {
        let event = try await reader.event(visit)
        let key = event.value.eventKey
        return .page(
            Question(
                "Reopen \(event.value.name)?",
                [
                    "The event takes messages again, with the channels that still exist. An end that is still "
                        + "waiting is withdrawn. Where it may have been sent, the newest content is sent again, for phones that "
                        + "were offline.",
                    "An activity that received the end cannot be restored. The sooner you reopen, the fewer are lost.",
                ],
                facts: event.value.audiences.prefix(50).map { audience in
                    Fact(
                        audience.words,
                        .words(
                            audience.channel.state == .deleted
                                ? "its channel was deleted; its followers are lost"
                                : "channel: \(audience.channel.state.rawValue)"))
                }, choices: [Question.Option("Reopen it", isDanger: false)],
                action: ConsolePath.event(key, "reopen"), back: ("Do not reopen it", ConsolePath.event(key))))
    }

    private func askToStart(_ visit: Visit) async throws -> PageRoute.Answer {
        let event = try await reader.event(visit)
        let key = event.value.eventKey
        let all = try await api.stores.starts.report(of: key, within: visit.reach, .dryRun, now: visit.now).counts
        return .page(
            Question(
                "Start \(event.value.name) now?",
                [
                    "A push starts the activity on the phones of all who follow one of its topics. A start goes to a phone "
                        + "once, and cannot be taken back there."
                ],
                facts: [
                    Fact("Followers", .words(Wording.number(all.followers))),
                    Fact("Would get it", .words(Wording.number(all.pending))),
                ], choices: [Question.Option("Start now", isDanger: false)], action: ConsolePath.event(key, "start"),
                back: ("Not now", ConsolePath.event(key))))
    }

    // MARK: Answers

    private func withdraw(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let id = try submission.visit.id(orThrow: .broadcastNotFound)
        try await api.withdraw(id, submission.visit.caller(of: .cancelBroadcast))
        return .done(
            ConsolePath.event(key), notice: "The broadcast was withdrawn. The earlier content is current again.")
    }

    private func cancel(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let end = submission.fields["end"] == "true"
        let caller = try submission.visit.caller(of: .cancelEvent)
        try await api.stores.events.cancel(
            key, sendingEnd: end, within: caller.reach, by: caller.actor, if: .none, now: submission.visit.now)
        return .done(
            ConsolePath.event(key),
            notice: end ? "It is cancelled; a last end is on its way." : "It is cancelled. No end was sent.")
    }

    private func reopen(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let reopened = try await submission.once(.reopenEvent) {
            Contract.ReopenedEvent(
                try await api.stores.events.reopen(
                    key, audiences: nil, within: $0.reach, by: $0.actor, now: submission.visit.now))
        }
        return .done(
            ConsolePath.event(key), notice: (["The event is reopened."] + reopened.warnings).joined(separator: " "))
    }

    private func start(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let now = submission.visit.now
        _ = try await submission.once(.startEvent) { caller in
            try await api.stores.starts.start(key, within: caller.reach, by: caller.actor, now: now)
        }
        return .done(ConsolePath.event(key), notice: "The start is being sent.")
    }

    private func stop(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let caller = try submission.visit.caller(of: .stopStart)
        try await api.stores.starts.stop(key, within: caller.reach, by: caller.actor, now: submission.visit.now)
        return .done(
            ConsolePath.event(key),
            notice: "Pushes that were not sent yet are stopped. “Start now” sends them.")
    }

    /// Changes the times, unless somebody else has changed the event since the page was made. If the form is sent
    /// twice, the second request succeeds, too, because the event already has these times.
    private func move(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let caller = try submission.visit.caller(of: .patchEvent)
        let patch = try JSONValue.body { object in
            for name in ["startsAt", "endsAt"] {
                object.name(dynamic: name)
                if let text = submission.fields[name] { object.string(FormTime.utc(text)) } else { object.null() }
            }
        }
        let event: Versioned<Contract.Event>
        do {
            event = try await api.patchEvent(key, patch, if: submission.fields.version, caller)
        } catch let problem as Problem where problem.kind == .versionMismatch {
            guard try await api.isDeclared(key, as: patch, caller) else { throw problem }
            event = try await reader.event(submission.visit)
        }
        return .done(
            ConsolePath.event(key), notice: (["It is moved."] + (event.value.warnings ?? [])).joined(separator: " "))
    }
}
