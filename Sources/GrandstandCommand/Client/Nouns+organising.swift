internal import Grandstand
internal import GrandstandServer
internal import JSON

extension Noun {
    static let organising: [Noun] = [
        Noun(
            "event", "Events of a running server.",
            [
                Verb(
                    "list", .listEvents, columns: "key state name kind startsAt endsAt", as: ["bundleId": "app"]),
                Verb("get", .getEvent),
                Verb(
                    "put", .putEvent,
                    "Declares an event, or changes the given members. The server then creates its channels.",
                    discussion: """
                        An audience is BUNDLE:ENVIRONMENT:POLICY, e.g. com.example.App:production:noMessageStored, or \
                        BUNDLE:ENVIRONMENT:POLICY:VARIANT, e.g. com.example.App:production:noMessageStored:de, if the \
                        app has several audiences. The policy "tokens" creates no channel; its activities are reached by \
                        push token.

                        Audiences that you do not name stay. In an audience that you name, only the policy changes. To \
                        remove an audience, give the full new list: --fields '{"audiences": [...]}'.
                        """,
                    as: ["audiences": "audience", "topics": "topic"], body: Contract.EventDraft.shape, isChange: true,
                    eventInputs
                ) {
                    try await $0.showEvent(try await $0.putMerged(over: .getEvent) { JSONDraft(event: $0) })
                },
                Verb(
                    "patch", .patchEvent, "Changes some members of an event, in one request.",
                    discussion: """
                        The options are those of put. They are sent as a JSON Merge Patch (RFC 7396). Options override \
                        members of PATCH. null removes a member, objects are merged, lists are replaced whole.
                        """,
                    as: ["audiences": "audience", "topics": "topic"], body: Contract.EventDraft.shape, isChange: true,
                    eventInputs + [
                        .init(
                            .optionalArgument, "patch", "A patch: a JSON object, @file, or - for standard input.",
                            use: .members("PATCH"))
                    ]
                ) {
                    var draft = JSONDraft()
                    try $0.apply(to: &draft)
                    guard draft != JSONDraft() else { throw ExitError("nothing to change: give PATCH or an option") }
                    try await $0.showEvent(try await $0.client.answer(try $0.makeCall(body: draft.json)))
                },
                Verb("cancel", .cancelEvent, aliases: ["delete"]),
                Verb(
                    "reopen", .reopenEvent, "Reopens an ended or cancelled event.",
                    discussion: "Prints which audiences still have their channels, and warns of what cannot be undone.",
                    [.audienceOption]),
            ]),
        Noun(
            "state", "The states of events: Grandstand sends a message if something is new.",
            [
                Verb(
                    "put", .putState, "Reports the state of an event; a message is sent only if something is new.",
                    [stateInput]),
                Verb("preview", .previewState, "Shows what a state would send, and sends nothing.", [stateInput]),
            ]),
        Noun(
            "broadcast", "Broadcasts to events.",
            [
                Verb(
                    "send", .broadcast,
                    discussion:
                        "Give JSON as text, as @file, or as - for standard input. It reaches the app byte for byte.",
                    as: ["audiences": "audience"], without: ["event"], body: Contract.BroadcastDraft.shape,
                    [
                        .init(
                            .flag, "end", "This is the last message.",
                            use: .body { if !$1.isEmpty { $0.set("event", "end") } }),
                        .init(
                            .option, "send-at",
                            "When to send it: an RFC 3339 time, or a time relative to its event's start, such as "
                                + "start-10m, start or start+1h. A relative time moves with the start.",
                            use: .body { if let text = $1.first { $0["sendAt"] = sendTime(text) } }),
                        .fieldsOption,
                        .init(
                            .flag, "wait",
                            "Wait until every delivery has its final state, also with --send-at, and print progress.",
                            use: .verb),
                        .audienceOption,
                        .init(
                            .flag, "preview",
                            "Send nothing: show what each audience would get, and which waiting broadcasts would be "
                                + "replaced.", use: .verb),
                    ]
                ) { given in
                    var draft = JSONDraft()
                    draft.set("event", "update")
                    try given.apply(to: &draft)
                    let isPreview = given.has("preview")
                    let answer = try await given.client.answer(
                        try given.makeCall(isPreview ? .previewBroadcast : nil, body: draft.json))
                    if isPreview { return try given.show(answer) }
                    try await given.client.showSettled(answer, if: given.has("wait"))
                },
                Verb(
                    "batch", .broadcastMany,
                    "Sends up to 500 broadcasts in one request; each is accepted or refused by itself. Exits 1 if any "
                        + "was refused.",
                    columns: "id eventKey event state acceptedAt problem.title problem.detail",
                    [
                        .init(
                            .argument, "items",
                            #"The batch as the API has it, {"items": [{"eventKey": …, "event": …}]}: JSON, @file, or -."#,
                            use: .document("ITEMS"))
                    ]
                ) { try await $0.sendBatch() },
                Verb("list", .listBroadcasts, columns: "id event state acceptedAt by counts"),
                Verb("get", .getBroadcast),
                Verb("cancel", .cancelBroadcast, aliases: ["delete"]),
            ]),
        Noun(
            "start", "Starts an event's Live Activity for all followers of its topics.",
            [
                Verb("preview", .startEvent, "Counts who would get it; sends nothing.") {
                    try await $0.callAndShow(body: try RawJSON(json: #"{"dryRun": true}"#))
                },
                Verb("now", .startEvent, "Sends the start now, or resumes a stopped one."),
                Verb("show", .getStart), Verb("stop", .stopStart),
            ]),
        Noun(
            "content", "Content types: what an app can decode, and which changes of a state send an alert.",
            [
                Verb(
                    "put", .putContent,
                    "Declares or changes a content type; prints which live events it would refuse.",
                    [
                        .init(
                            .argument, "declaration",
                            #"The declaration as the API has it, {"check": …, "versions": […], "rules": …}: JSON, "#
                                + "@file, or -.", use: .document("DECLARATION"))
                    ])
            ]),
    ]

    /// `sendAt` in the API's form. `start`, optionally with an offset in seconds, minutes, hours or days, is relative
    /// to the event's start. Any other text is a time; the server checks it.
    @Sendable private static func sendTime(_ text: String) -> [UInt8] {
        var json = JSONWriter()
        if let match = text.wholeMatch(of: /start(?:([+-])([0-9]{1,8})([smhd]?))?/) {
            let unit = ["m": 60, "h": 3_600, "d": 86_400][match.3 ?? ""] ?? 1
            let seconds = (match.2.flatMap { Int($0) } ?? 0) * unit
            json.object { $0.member("afterStart", match.1 == "-" ? -seconds : seconds) }
        } else {
            json.string(text)
        }
        return json.bytes
    }

    private static let stateInput = Input(
        .argument, "state", #"The state as the API has it, {"contentState": …, "sequence": …}: JSON, @file, or -."#,
        use: .document("STATE"))

    private static let audienceForm = "BUNDLE:ENVIRONMENT:POLICY[:VARIANT]"

    private static let eventInputs: [Input] = [
        .init(
            .options, "audience", "An audience. put keeps audiences that are not named, patch replaces all.",
            use: .body { try declare($1, in: &$0) }
        ) { _ = try parts("--audience", $0, audienceForm) },
        .init(.flag, "wait", "Wait until its channels exist, and print progress.", use: .verb),
    ]

    /// Declares audiences of an event. One that the draft has is changed in place; others are added at the end.
    @Sendable private static func declare(_ texts: [String], in draft: inout JSONDraft) throws {
        var all = (draft.value("audiences")?.elements ?? []).map { JSONDraft($0) }
        for text in texts {
            let parts = try parts("--audience", text, audienceForm)
            let variant = parts.count == 4 ? parts[3] : nil
            let present = all.firstIndex {
                $0.value("bundleId")?.string?.lowercased() == parts[0].lowercased()
                    && $0.value("environment")?.string == parts[1] && $0.value("variant")?.string == variant
            }
            if present == nil { all.append(JSONDraft()) }
            let place = present ?? all.count - 1
            let isByToken = parts[2] == "tokens"
            all[place].set("bundleId", parts[0])
            all[place].set("environment", parts[1])
            all[place].set("variant", variant)
            // For token audiences the server stores the newest message, which corresponds to this policy.
            all[place].set("storagePolicy", isByToken ? "mostRecentMessageStored" : parts[2])
            all[place]["delivery"] = Array((isByToken ? #""tokens""# : "null").utf8)
        }
        if !texts.isEmpty { draft["audiences"] = JSONWriter.text(all) }
    }
}

extension Input {
    static let fieldsOption = Input(
        .option, "fields",
        "Fields as the API has them: a JSON object, @file, or - for standard input. null removes a field.",
        use: .members("--fields"))

    private static let selectorForm = "BUNDLE:ENVIRONMENT[:VARIANT]"

    /// Audiences of an event.
    static let audienceOption = Input(
        .options, "audience", "Only this audience, \(selectorForm). Without it: all.",
        use: .body { draft, texts in
            let selectors = try texts.map { text in
                let parts = try parts("--audience", text, selectorForm)
                return Contract.AudienceSelector(
                    bundleId: parts[0], environment: .init(rawValue: parts[1]),
                    variant: parts.count == 3 ? parts[2] : nil)
            }
            if !selectors.isEmpty { draft["audiences"] = JSONWriter.text(selectors) }
        }
    ) { _ = try parts("--audience", $0, selectorForm) }
}

extension Invocation {
    /// Shows a changed event, with `--wait` as soon as its channels exist.
    fileprivate func showEvent(_ answer: JSONValue?) async throws {
        try show(has("wait") ? try await client.awaitChannels(of: self["key"] ?? "") : answer)
    }

    fileprivate func sendBatch() async throws {
        let asked = try JSONValue(parsing: try json("ITEMS", self["items"] ?? ""), maximumValues: .max)
        let answer = try await client.answer(try makeCall())
        try show(answer)
        let items = asked["items"]?.elements ?? []
        let refused = zip(items, answer?["items"]?.elements ?? []).enumerated().compactMap { number, item in
            item.1["problem"].map { problem in
                "\n  /items/\(number) (\(item.0["eventKey"]?.string ?? "")): "
                    + [problem["title"]?.string, problem["detail"]?.string].compactMap(\.self).joined(separator: ": ")
            }
        }
        guard refused.isEmpty else {
            throw ExitError("\(refused.count) of \(items.count) were refused:" + refused.joined())
        }
    }
}
