internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// Lookups' answers with the newest content, read from the database; `nil` for a name that is not known. Only one query
/// runs at a time. Calls that come during a query are answered together by the next query, and each name is read only
/// once for all of them. A caller gets the result of a query that began after its call. So the content is never older
/// than the last content that was accepted before the call.
private typealias LookupContents = Batch<LookupName, LookupAnswer?>

/// `/v1/lookup`: millions of apps send lookups at kick-off before they start a Live Activity.
extension API {
    var lookupRoutes: [Route] {
        // After a query there is a pause of four times its time. So however many phones ask, queries take at most a fifth
        // of one session's time. The answer for one name may have 5 KB.
        let contents = LookupContents(
            limit: 1_000, capacity: 10_000, restPerWork: 4, failsWholeBatch: { _ in true }
        ) { [lookups = stores.lookups, now] names in
            let found = try await lookups.lookups(of: Set(names), now: now())
            return names.map { found[$0].map { LookupAnswer($0.lookup, $0.wait) } }
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
        guard reply.freshness != .unknown else { throw LookupReplica.unread }
        var answer = reply.answer
        // Contents are large and change often, so they are not in memory. The database is asked only if the channel
        // exists.
        if wantsState ?? false {
            switch answer {
            case .found:
                return try lookupResponse(to: request, try await contents.run(name), .confirmed, name, bundleID)
            // The answer from memory already says that the event is over. If the database cannot be asked, this answer
            // is sent without the content.
            case .over: answer = (try? await contents.run(name)) ?? answer
            case .pending, .noSuchVariant, nil: break
            }
        }
        do {
            return try lookupResponse(to: request, answer, reply.freshness, name, bundleID)
        } catch var problem as Problem {
            if case .stale(let seconds) = reply.freshness { problem.age = seconds }
            throw problem
        }
    }

    private func lookupResponse(
        to request: Request, _ answer: LookupAnswer?, _ freshness: LookupReplica.Freshness, _ name: LookupName,
        _ bundleID: BundleID
    ) throws -> Response {
        let key = name.key
        var audience: String {
            "\(bundleID) in \(name.environment.rawValue)\(name.variant.map { " in variant \($0)" } ?? "")"
        }
        switch answer {
        case .found(let body):
            return LookupResponse(body, freshness, ifNoneMatch: request.headers[.ifNoneMatch]).response
        case .over(let contentState, let timestamp):
            var problem = Problem(
                .eventEnded,
                "The event \(key) is over for \(audience); there is nothing to follow.",
                members: contentState.map { contentState in
                    [.contentState(Array(contentState.bytes))] + (timestamp.map { [.timestamp($0)] } ?? [])
                } ?? [], maxAge: Self.maxAgeOver)
            problem.status = 410
            throw problem
        case .pending(let wait):
            let now = now()
            let retryAfter = wait.retryAfter(now)
            throw Problem(
                .channelPending, wait.detail(of: key, now), retryAfter: retryAfter,
                maxAge: min(retryAfter, Self.maxAgeOver))
        case .noSuchVariant(let variants):
            throw Problem.variantNotFound(audience, of: key, variants, maxAge: Self.maxAgeUnknown)
        case nil:
            throw Problem(
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
            guard name != nil, let reply = replies.popFirst() else {
                missing.append((text, .eventNotFound))
                continue
            }
            guard reply.freshness != .unknown else {
                missing.append((text, .storeUnavailable))
                continue
            }
            if reply.freshness != .confirmed { worst = reply.freshness }
            switch reply.answer {
            case .found(let body):
                items.append(body.bytes)
                metrics.count(.found)
            case .pending: missing.append((text, .channelPending))
            case .over: missing.append((text, .eventEnded))
            case .noSuchVariant: missing.append((text, .variantNotFound))
            case nil: missing.append((text, .eventNotFound))
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

extension Problem {
    /// - Parameter variants: the existing variants; `nil` is an audience without a variant.
    fileprivate static func variantNotFound(
        _ audience: String, of key: EventKey, _ variants: [Variant?], maxAge: Int
    ) -> Problem {
        let names = variants.compactMap { $0?.rawValue }
        let others = names + (variants.contains(nil) ? ["an audience without a variant"] : [])
        return Problem(
            .variantNotFound,
            "The event \(key) has nothing for \(audience); it has \(others.joined(separator: ", ")) there.",
            members: [.variants(names)], maxAge: maxAge)
    }
}

extension QueryParameters {
    /// The variant in the query; `nil`: none.
    func variant() throws(Problem) -> Variant? {
        try read("variant", Variant.rule, Variant.init(rawValue:))
    }
}

extension QueryParameters {
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
    /// The answer names a channel.
    case found
    /// The caller's copy is still valid (304).
    case notModified = "not-modified"
    /// The event has no channel yet.
    case pending
    case over
    /// The event does not exist.
    case unknown
    /// The answer is the list of events to follow.
    case listed
    /// Neither the memory nor the database could answer.
    case unavailable
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
