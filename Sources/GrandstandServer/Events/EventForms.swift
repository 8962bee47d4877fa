internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The forms that change an event, other than sending: the pages that ask first, and the actions.
struct EventForms: PageGroup {
    let reader: EventReader
    let events: EventOperations
    let starts: StartOperations
    let broadcasts: BroadcastOperations

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
        let key = event.specification.key
        return .page(
            Question(
                "Cancel \(event.specification.name)?",
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
        let key = event.specification.key
        return .page(
            Question(
                "Reopen \(event.specification.name)?",
                [
                    "The event takes messages again, with the channels that still exist. An end that is still "
                        + "waiting is withdrawn. Where it may have been sent, the newest content is sent again, for phones that "
                        + "were offline.",
                    "An activity that received the end cannot be restored. The sooner you reopen, the fewer are lost.",
                ],
                facts: zip(event.specification.audiences, event.channels).prefix(50).map { audience, channel in
                    Fact(
                        audience.words,
                        .words(
                            channel.state == .deleted
                                ? "its channel was deleted; its followers are lost"
                                : "channel: \(channel.state.rawValue)"))
                }, choices: [Question.Option("Reopen it", isDanger: false)],
                action: ConsolePath.event(key, "reopen"), back: ("Do not reopen it", ConsolePath.event(key))))
    }

    private func askToStart(_ visit: Visit) async throws -> PageRoute.Answer {
        let event = try await reader.event(visit)
        let key = event.specification.key
        let reports = try await reader.starts.report(of: key, within: visit.reach, .dryRun, now: visit.now)
        guard let reports else {
            throw Problem(.invalidRequest, "The event \(key) declares no start.")
        }
        let all = StartReport(of: reports.map(\.report)).counts
        return .page(
            Question(
                "Start \(event.specification.name) now?",
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
        try await broadcasts.cancel(id, submission.visit.caller(of: .cancelBroadcast))
        return .done(
            ConsolePath.event(key), notice: "The broadcast was withdrawn. The earlier content is current again.")
    }

    private func cancel(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let end = submission.fields["end"] == "true"
        try await events.cancel(key, sendingEnd: end, if: .none, submission.visit.caller(of: .cancelEvent))
        return .done(
            ConsolePath.event(key),
            notice: end ? "It is cancelled; a last end is on its way." : "It is cancelled. No end was sent.")
    }

    private func reopen(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        let reopened = try await submission.once(.reopenEvent) {
            Contract.ReopenedEvent(try await events.reopen(key, audiences: nil, $0))
        }
        return .done(
            ConsolePath.event(key), notice: (["The event is reopened."] + reopened.warnings).joined(separator: " "))
    }

    private func start(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        _ = try await submission.once(.startEvent) { try await starts.startNow(key, isDry: false, $0) }
        return .done(ConsolePath.event(key), notice: "The start is being sent.")
    }

    private func stop(_ submission: Submission) async throws -> PageRoute.Answer {
        let key = try submission.visit.eventKey()
        try await starts.stop(key, submission.visit.caller(of: .stopStart))
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
        let event: Event
        do {
            event = try await events.patch(key, patch, if: submission.fields.version, caller)
        } catch let problem as Problem where problem.kind == .versionMismatch {
            guard try await events.isDeclared(key, as: patch, caller) else { throw problem }
            event = try await events.event(key, caller)
        }
        return .done(
            ConsolePath.event(key), notice: (["It is moved."] + (event.warnings ?? [])).joined(separator: " "))
    }
}
