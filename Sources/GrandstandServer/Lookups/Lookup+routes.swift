internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON

extension API {
    var lookupRoutes: [Route] {
        let contents = LookupContents { [lookups = stores.lookups, now] names in
            try await lookups.lookups(of: names, now: now()).mapValues { LookupAnswer($0.lookup, $0.wait) }
        }
        // A series that begins with 1 shows no increase.
        for result in LookupResult.allCases { _ = metrics.lookups(result) }
        return LookupRoutes(replica: lookups, contents: contents, metrics: metrics, now: now).routes
    }
}

/// `/v1/lookup`: millions of apps send lookups at kick-off before they start a Live Activity.
struct LookupRoutes: Sendable {
    let replica: LookupReplica
    let contents: LookupContents
    let metrics: ServerMetrics
    let now: @Sendable () -> Date

    /// Seconds for which a cache may reuse a refusal. An event that is over usually stays over; an unknown event may be
    /// declared at any moment.
    private static let (maxAgeOver, maxAgeUnknown) = (10, 5)

    var routes: [Route] {
        [
            Route(.lookup) { request, context in
                try await metrics.count(.found) { try await lookup(request, context) }
            },
            list,
            Route(.lookupMany, batch),
        ]
    }

    private func lookup(_ request: Request, _ context: APIContext) async throws -> Response {
        let wantsState = try context.query.read("include", "contentState was expected.") {
            $0 == "contentState" ? true : nil
        }
        let key = try context.eventKey()
        let bundleID = try context.bundleID()
        let name = LookupName(
            topic: bundleID.topic, environment: try context.environment(), key: key,
            variant: try context.query.variant())
        let reply = await replica.answers(to: [name])[0]
        guard reply.freshness != .unknown else { throw LookupReplica.unread }
        var answer = reply.answer
        // Contents are large and change often, so they are not in memory. The database is asked only if the channel
        // exists.
        if wantsState ?? false {
            switch answer {
            case .found: return try response(to: request, try await contents.answer(name), .confirmed, name, bundleID)
            // The answer from memory already says that the event is over. If the database cannot be asked, this answer
            // is sent without the content.
            case .over: answer = (try? await contents.answer(name)) ?? answer
            case .pending, .noSuchVariant, nil: break
            }
        }
        do {
            return try response(to: request, answer, reply.freshness, name, bundleID)
        } catch var problem as Problem {
            if case .stale(let seconds) = reply.freshness { problem.age = seconds }
            throw problem
        }
    }

    private func response(
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

    private func batch(_ request: Request, _ context: APIContext) async throws -> Response {
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
        var replies = await replica.answers(to: names.compactMap(\.self))[...]
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
