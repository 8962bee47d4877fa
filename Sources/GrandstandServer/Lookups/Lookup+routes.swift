internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// The newest contents of lanes, read from the database. Only one query runs at a time. Calls that come during a query are
/// answered together by the next query, and each lane is read only once for all of them. A caller gets the result of a
/// query that began after its call. So the content is never older than the last content that was accepted before the call.
typealias LookupContents = Batch<Int, LookupContent?>

/// `/v1/lookup`: millions of apps send lookups at kick-off before they start a Live Activity.
extension API {
    var lookupRoutes: [Route] {
        // After a query there is a pause of four times its time. So however many phones ask, queries take at most a fifth
        // of one session's time. A content may have 5 KB.
        let contents = LookupContents(limit: 1_000, restAfter: { $0 * 4 }, failsAsOne: true) {
            [lookups = stores.lookups] lanes in
            let found = try await lookups.contents(of: lanes)
            return lanes.map { found[$0] }
        }
        // A series that begins with 1 shows no increase.
        for result in LookupResult.allCases { _ = metrics.onLookup(result) }
        return [
            Route(.lookup) { request, context in
                try await metrics.count(.found) { try await lookup(request, context, contents) }
            },
            Route(.lookupList) { request, context in
                try await metrics.count(.listed) { try await lookupList(request, context) }
            }, Route(.lookupMany, lookupMany),
        ]
    }

    private func lookup(_ request: Request, _ context: APIContext, _ contents: LookupContents) async throws -> Response
    {
        let include = try context.query.choice("include", Contract.LookupInclude.self)
        let name = LookupKey(app: try context.app(), key: try context.eventKey(), variant: try context.query.variant())
        var reply = await lookups.answers(to: [name])[0]
        // Contents are large and change often, so they are not in memory. The database is asked only if the channel
        // exists, or the event is over.
        if include == .contentState, reply.isSettled {
            do {
                reply.answer = try await lookups.answer(to: name, with: contents)
            } catch {
                // Without the database, memory still knows that the event is over.
                guard reply.problem != nil else { throw error }
            }
        }
        if var problem = reply.problem {
            if reply.age > 0 { problem.age = reply.age }
            throw problem
        }
        return Response(try reply.answer.get(), age: reply.age, to: request)
    }

    private func lookupMany(_ request: Request, _ context: APIContext) async throws -> Response {
        let (app, variant) = (try context.app(), try context.query.variant())
        let texts = try Contract.LookupBatch.read(try await request.json()).eventKeys
        let names = texts.compactMap(EventKey.init).map { LookupKey(app: app, key: $0, variant: variant) }
        let replies = Dictionary(
            zip(names.map(\.key.rawValue), await lookups.answers(to: names)), uniquingKeysWith: { $1 })
        var items: [[UInt8]] = []
        var missing: [Contract.MissingLookup] = []
        for text in texts {
            if case .success(let body)? = replies[text]?.answer {
                items.append(body.bytes)
                metrics.count(.found)
            } else {
                let kind = replies[text]?.problem?.kind ?? .eventNotFound
                missing.append(.init(eventKey: text, reason: .init(kind)))
                metrics.count(LookupResult.ofProblems[kind])
            }
        }
        if items.isEmpty, missing.allSatisfy({ $0.reason == .storeUnavailable }) { throw LookupReplica.unavailable }
        let age = replies.values.map(\.age).max() ?? 0
        // The JSON of a `Contract.LookupBatchAnswer`. Its items are already JSON text: the bodies of single lookups.
        let body = JSONWriter.text { object in
            object.array("items", items) { $0.raw($1) }
            object.member("missing", missing)
        }
        return .json(bytes: body, headers: .stale(age))
    }

    /// The list of events that an app may offer to follow.
    private func lookupList(_ request: Request, _ context: APIContext) async throws -> Response {
        let (body, age) = try await lookups.page(
            try context.query.listQuery(), of: try context.app(), uri: request.uri.string)
        return Response(body, age: age, to: request)
    }
}

/// The answer to a successful lookup. Routes send it as a `Response`; `LookupHandler` writes it directly to the
/// connection. `CommonHeaders` adds its other header fields. The body of 304 is empty.
typealias LookupResponse = (status: HTTPResponse.Status, headers: HTTPFields, body: [UInt8])

extension LookupBody {
    /// 200 with the body, or 304 if the caller already has it.
    ///
    /// - Parameter ifNoneMatch: the request's `If-None-Match`.
    func response(age: Int, ifNoneMatch: String?) -> LookupResponse {
        var headers = HTTPFields()
        // With room for the fields that are added later.
        headers.reserveCapacity(16)
        if age > 0 { headers.append(contentsOf: HTTPFields.stale(age)) }
        headers.append(HTTPField(name: .eTag, value: tag.text))
        headers.append(Self.cacheControl)
        if let ifNoneMatch, tag.matches(ifNoneMatch) { return (.notModified, headers, []) }
        headers.append(Self.contentType)
        return (.ok, headers, bytes)
    }

    private static let cacheControl = HTTPField(name: .cacheControl, value: "public, max-age=10")
    private static let contentType = HTTPField(name: .contentType, value: "application/json")
}

extension Response {
    fileprivate init(_ body: LookupBody, age: Int, to request: Request) {
        let answer = body.response(age: age, ifNoneMatch: request.headers[.ifNoneMatch])
        let isEmpty = answer.body.isEmpty
        self.init(
            status: answer.status, headers: answer.headers,
            body: isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
}

extension HTTPFields {
    /// The fields of an answer that the database cannot confirm now: its age and a warning (RFC 9111, 5.1 and 5.5).
    ///
    /// - Parameter age: 0: the answer is current.
    static func stale(_ age: Int) -> HTTPFields {
        age == 0 ? [:] : [.age: String(age), .warning: "110 - \"Response is Stale\""]
    }
}

extension HTTPField.Name {
    /// The force-unwrap is safe: the literal is a valid field name (RFC 9110).
    fileprivate static let warning = HTTPField.Name("Warning")!
}

extension QueryParameters {
    /// The variant in the query; `nil`: none.
    func variant() throws(Problem) -> Variant? { try read("variant", Variant.rule, Variant.init(rawValue:)) }

    fileprivate func listQuery() throws(Problem) -> LookupListQuery {
        let page = try page()
        var query = LookupListQuery.standard
        query.topic = try read("topic", TextRule.topic.sentence) { TextRule.topic.accepts($0) ? $0 : nil }
        (query.from, query.to) = try period()
        (query.state, query.variant, query.limit) = (try choice("state"), try variant(), page.limit)
        query.after = try page.cursor.map { text throws(Problem) in try PageCursor(text) }
        return query
    }
}

/// The result of a lookup, as a label of the metric.
enum LookupResult: String, Sendable, CaseIterable {
    /// The answer names a channel; the caller's copy is still valid (304); the answer is the list of events to follow.
    case found, notModified = "not-modified", listed
    /// The event has no channel yet; it is over; it does not exist; neither the memory nor the database could answer.
    case pending, over, unknown, unavailable

    /// The results of refused lookups. Other problems are with the request itself.
    static let ofProblems: [Problem.Kind: LookupResult] = [
        .channelPending: .pending, .eventEnded: .over, .eventNotFound: .unknown,
        .variantNotFound: .unknown, .storeUnavailable: .unavailable,
    ]
}

extension ServerMetrics {
    /// Counts a lookup that reached the routes. `LookupResponder` counts the lookups that it answers.
    func count(_ result: LookupResult?) { if let result { onLookup(result)() } }

    /// Counts the answer of `body`: as `result`, as not modified, or as the problem it throws. An invalid request does
    /// not count as a lookup.
    func count(_ result: LookupResult, _ body: () async throws -> Response) async throws -> Response {
        do {
            let response = try await body()
            count(response.status == .notModified ? .notModified : result)
            return response
        } catch let problem as Problem {
            count(LookupResult.ofProblems[problem.kind])
            throw problem
        }
    }
}
