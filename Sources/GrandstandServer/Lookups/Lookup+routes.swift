internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// The newest contents of lanes, read from the database. Only one query runs at a time. Calls that come during a query are
/// answered together by the next query, and each lane is read only once for all of them. A caller gets the result of a
/// query that began after its call. So the content is never older than the last content that was accepted before the call.
typealias LookupContents = Batch<Int, LookupContent?>

/// `/v1/lookup`: millions of apps send lookups at kick-off before they start a Live Activity.
extension API {
    var lookupRoutes: [Route] {
        // After a query there is a pause of four times its time. So however many phones ask, queries take at most a fifth
        // of one session's time. A content may have 5 KB.
        let contents = LookupContents(
            limit: 1_000, capacity: 10_000, restPerWork: 4, failsWholeBatch: { _ in true }
        ) { [lookups = stores.lookups] lanes in
            let found = try await lookups.contents(of: lanes)
            return lanes.map { found[$0] }
        }
        // A series that begins with 1 shows no increase.
        for result in LookupResult.allCases { _ = metrics.lookups(result) }
        return [
            Route(.lookup) { request, context in
                try await metrics.count(.found) { try await lookup(request, context, contents) }
            },
            Route(.lookupList) { request, context in
                try await metrics.count(.listed) { try await lookupList(request, context) }
            },
            Route(.lookupMany, lookupMany),
        ]
    }

    /// Seconds for which a cache may reuse a refusal. An event that is over usually stays over; an unknown event may be
    /// declared at any moment.
    private static let (maxAgeOver, maxAgeUnknown) = (10, 5)

    private func lookup(
        _ request: Request, _ context: APIContext, _ contents: LookupContents
    ) async throws -> Response {
        let wantsState = try context.query.read("include", "contentState was expected.") {
            $0 == "contentState" ? true : nil
        }
        let key = try context.eventKey()
        let bundleID = try context.bundleID()
        let name = LookupName(
            topic: bundleID.topic, environment: try context.environment(), key: key,
            variant: try context.query.variant())
        let reply = await lookups.answers(to: [name])[0]
        var answer = reply.answer
        // Contents are large and change often, so they are not in memory. The database is asked only if the channel
        // exists.
        if wantsState ?? false {
            switch answer {
            case .found: answer = try await lookups.answer(to: name, with: contents)
            // If the database cannot be asked, the answer that the event is over is sent without the content.
            case .over: answer = (try? await lookups.answer(to: name, with: contents)) ?? answer
            case .pending, .noSuchVariant, nil: break
            }
        }
        if case .found(let body)? = answer {
            return LookupResponse(body, reply.freshness, ifNoneMatch: request.headers[.ifNoneMatch]).response
        }
        var problem = refusal(answer, reply.freshness, name, bundleID)
        if case .stale(let seconds) = reply.freshness { problem.age = seconds }
        throw problem
    }

    /// Why a lookup names no channel.
    private func refusal(
        _ answer: LookupAnswer?, _ freshness: LookupReplica.Freshness, _ name: LookupName, _ bundleID: BundleID
    ) -> Problem {
        guard freshness != .unknown else { return LookupReplica.unread }
        let key = name.key
        let audience =
            "\(bundleID) in \(name.environment.rawValue)\(name.variant.map { " in variant \($0)" } ?? "")"
        switch answer {
        case .over(let content):
            var problem = Problem(
                .eventEnded, "The event \(key) is over for \(audience); there is nothing to follow.",
                maxAge: Self.maxAgeOver)
            (problem.contentState, problem.timestamp) = (content?.state, content?.timestamp)
            problem.status = 410
            return problem
        case .pending(let wait):
            let now = now()
            let retryAfter = wait.retryAfter(now)
            return Problem(
                .channelPending, wait.detail(of: key, now), retryAfter: retryAfter,
                maxAge: min(retryAfter, Self.maxAgeOver))
        case .noSuchVariant(let variants):
            let names = variants.compactMap { $0?.rawValue }
            let others = names + (variants.contains(nil) ? ["an audience without a variant"] : [])
            return Problem(
                .variantNotFound,
                "The event \(key) has nothing for \(audience); it has \(others.joined(separator: ", ")) there.",
                maxAge: Self.maxAgeUnknown
            ) { $0.variants = names }
        case .found, nil:
            return Problem(
                .eventNotFound, "There is no event \(key) for \(audience).", maxAge: Self.maxAgeUnknown)
        }
    }

    private func lookupMany(_ request: Request, _ context: APIContext) async throws -> Response {
        let bundleID = try context.bundleID()
        let environment = try context.environment()
        let variant = try context.query.variant()
        let texts = try Contract.LookupBatch.read(try await request.json()).eventKeys
        var items: [[UInt8]] = []
        var missing: [(key: String, reason: Problem.Kind)] = []
        var worst = LookupReplica.Freshness.confirmed
        let names = texts.map { text in
            EventKey(rawValue: text).map {
                LookupName(topic: bundleID.topic, environment: environment, key: $0, variant: variant)
            }
        }
        var replies = await lookups.answers(to: names.compactMap(\.self))[...]
        for (text, name) in zip(texts, names) {
            guard let name, let reply = replies.popFirst() else {
                missing.append((text, .eventNotFound))
                continue
            }
            if case .stale = reply.freshness { worst = reply.freshness }
            if case .found(let body)? = reply.answer {
                items.append(body.bytes)
                metrics.count(.found)
            } else {
                missing.append((text, refusal(reply.answer, reply.freshness, name, bundleID).kind))
            }
        }
        if items.isEmpty, missing.allSatisfy({ $0.reason == .storeUnavailable }) { throw LookupReplica.unread }
        for miss in missing { metrics.count(LookupResult(miss.reason)) }
        // The JSON of a `Contract.LookupBatchAnswer`. Its items are already JSON text: the bodies of single lookups.
        let body = JSONWriter.text { object in
            object.array("items", items) { $0.raw($1) }
            object.member(
                "missing", missing.map { Contract.MissingLookup(eventKey: $0.key, reason: .init($0.reason)) })
        }
        return .json(bytes: body, headers: worst.headers)
    }

    /// The list of events that an app may offer to follow.
    private func lookupList(_ request: Request, _ context: APIContext) async throws -> Response {
        let app = LookupList.App(topic: try context.bundleID().topic, environment: try context.environment())
        let (body, freshness) = try await lookups.page(
            try context.query.list(), of: app, uri: request.uri.string)
        return LookupResponse(body, freshness, ifNoneMatch: request.headers[.ifNoneMatch]).response
    }
}

extension QueryParameters {
    /// The variant in the query; `nil`: none.
    func variant() throws(Problem) -> Variant? {
        try read("variant", Variant.rule, Variant.init(rawValue:))
    }

    fileprivate func list() throws(Problem) -> LookupListQuery {
        let page = try page()
        let after = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        let (from, to) = try period()
        return LookupListQuery(
            topic: try read("topic", Topic.rule, Topic.init(rawValue:)), from: from, to: to,
            state: try choice("state"), variant: try variant(), limit: page.limit, after: after)
    }
}

/// The result of a lookup, as a label of the metric.
enum LookupResult: String, Sendable, CaseIterable {
    /// The answer names a channel; the caller's copy is still valid (304); the answer is the list of events to follow.
    case found, notModified = "not-modified", listed
    /// The event has no channel yet; it is over; it does not exist; neither the memory nor the database could answer.
    case pending, over, unknown, unavailable
}

extension ServerMetrics {
    /// Counts a lookup that reached the routes. `LookupResponder` counts the lookups that it answers.
    func count(_ result: LookupResult?) { if let result { lookups(result)() } }

    /// Counts the answer of `body`: as `result`, as not modified, or as the problem it throws. An invalid request does
    /// not count as a lookup.
    func count(_ result: LookupResult, _ body: () async throws -> Response) async throws -> Response {
        do {
            let response = try await body()
            count(response.status == .notModified ? .notModified : result)
            return response
        } catch let problem as Problem {
            count(LookupResult(problem.kind))
            throw problem
        }
    }
}

extension LookupResult {
    /// - Returns: `nil` for a problem with the request itself.
    init?(_ kind: Problem.Kind) {
        switch kind {
        case .channelPending: self = .pending
        case .eventEnded: self = .over
        case .eventNotFound, .variantNotFound: self = .unknown
        case .storeUnavailable: self = .unavailable
        default: return nil
        }
    }
}
