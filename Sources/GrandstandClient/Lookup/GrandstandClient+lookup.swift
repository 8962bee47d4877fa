public import Foundation

extension GrandstandClient {
    /// The channel of an event, for an app that is about to start a Live Activity.
    ///
    /// With a cache, the answer may be as old as the server allows. If the server cannot be asked, the last answer is
    /// returned as `stale`, but never an answer about an event past its `endsAt`.
    ///
    /// - Parameters:
    ///   - variant: the variant of the audience; `nil`: the app's audience without a variant. If the app has no such
    ///     audience, `nil` means the app's first audience that is not over.
    ///   - contentState: whether the answer includes the newest content.
    ///   - patience: the most seconds to wait for a pending channel (`channel-pending`).
    /// - Throws: `ServerProblem`: `eventNotFound`, `variantNotFound`, `channelPending` if the channel is still pending
    ///   after `patience`, `eventEnded`; the errors of `send`.
    public func lookup(
        _ eventKey: String, in app: AppEnvironment, variant: String? = nil, contentState: Bool = false,
        patience: TimeInterval = 30
    ) async throws -> Found<Lookup> {
        let call = Call<Lookup>.lookup(
            eventKey, in: app, include: contentState ? .contentState : nil, variant: variant)
        let began = time.uptime()
        while true {
            do {
                return try await find(call) { lookup, now in
                    lookup.endsAt.map { $0 > now } ?? true ? lookup : nil
                }
            } catch let problem as ServerProblem where problem.kind == .channelPending {
                // Wait as long as the server's `Retry-After` says, plus up to half a second at random, so that not all
                // clients ask again at the same moment.
                let wait = TimeInterval(problem.retryAfter ?? 2) + 0.5 * time.random()
                guard time.uptime() - began + wait <= patience else { throw problem }
                try await time.sleep(wait)
            }
        }
    }

    /// One page of the events that an app may offer to follow, sorted by their start.
    ///
    /// The answer is cached like the answer of `lookup`. An answer from the cache leaves out events past their
    /// `endsAt`.
    ///
    /// - Throws: the errors of `send`.
    public func followables(
        in app: AppEnvironment, topic: String? = nil, from: Date? = nil, to: Date? = nil, state: FollowableState? = nil,
        variant: String? = nil, limit: Int? = nil, cursor: String? = nil
    ) async throws -> Found<Page<Followable>> {
        let call = Call<Page<Followable>>.lookupList(
            in: app, topic: topic, from: from, to: to, state: state, variant: variant
        ).page(limit: limit, after: cursor)
        return try await find(call) { page, now in
            Page(items: page.items.filter { $0.endsAt.map { $0 > now } ?? true }, nextCursor: page.nextCursor)
        }
    }

    /// The channels of any number of events, with one request for every 100 events.
    ///
    /// - Throws: the errors of `send`.
    public func lookup(
        _ eventKeys: [String], in app: AppEnvironment, variant: String? = nil
    ) async throws -> LookupBatchAnswer {
        var all = LookupBatchAnswer(items: [], missing: [])
        for start in stride(from: 0, to: eventKeys.count, by: 100) {
            let part = Array(eventKeys[start..<min(start + 100, eventKeys.count)])
            let answer = try await send(.lookupMany(part, in: app, variant: variant))
            all.items += answer.items
            all.missing += answer.missing
        }
        return all
    }

    /// Answers from the cache if that is allowed. Otherwise asks the server, with the stored answer's tag.
    ///
    /// - Parameter usable: the part of a stored value that may be used at this time; `nil`: none.
    private func find<Value>(
        _ call: Call<Value>, _ usable: (Value, Date) -> Value?
    ) async throws -> Found<Value> {
        var request = try request(call)
        // The key is part of the address, so that an answer for one key is never used for another.
        let address = "\(request.url.absoluteString) \(key.map { FNV1a.name(of: $0.rawValue) } ?? "")"
        let kept = cache?.answer(to: address)
        let now = time.now()
        let value = try? kept.map { try call.read(Answer(status: 200, headers: [:], body: $0.body)) }
        if let kept, let value, kept.isFresh(at: now), let usable = usable(value, now) {
            return Found(value: usable, origin: .cache, asOf: kept.asOf)
        }
        if value != nil, let tag = kept?.entityTag { request.headers["If-None-Match"] = tag }
        let fallback = kept.flatMap { kept -> Found<Value>? in
            guard let cache, now.timeIntervalSince(kept.asOf) < cache.longestStale else { return nil }
            return value.flatMap { usable($0, now) }.map { Found(value: $0, origin: .stale, asOf: kept.asOf) }
        }
        let answer: Answer
        do {
            let policy = fallback == nil ? retry : retry.impatient
            answer = try await exchange(request, as: policy) { call.accepts($0) || $0.status == 304 }
        } catch let error as URLError {
            guard let fallback else { throw error }
            return fallback
        }
        if answer.status == 304, let kept, let value {
            let confirmed = kept.confirmed(by: answer, at: time.now())
            cache?.keep(confirmed)
            return Found(value: value, origin: .server, asOf: confirmed.asOf)
        }
        guard call.accepts(answer) else {
            if answer.status == 429 || answer.status >= 500 {
                if let fallback { return fallback }
            } else {
                cache?.remove(address)
            }
            throw ServerProblem(answer)
        }
        let fresh = CachedAnswer(answer, to: address, at: time.now())
        let found = Found(value: try call.read(answer), origin: .server, asOf: fresh?.asOf ?? time.now())
        if let fresh { cache?.keep(fresh) }
        return found
    }
}

extension GrandstandClient {
    /// The result of a lookup, and where it comes from. The value's members can be read directly.
    @dynamicMemberLookup
    public struct Found<Value: Sendable>: Sendable {
        /// The result.
        public let value: Value
        /// Where the result comes from.
        public let origin: Origin
        /// When the server gave the answer.
        public let asOf: Date

        /// Where an answer comes from.
        public enum Origin: Sendable, Hashable {
            /// The server gave or confirmed the answer just now.
            case server
            /// The answer comes from the cache. It is recent enough that the server need not be asked.
            case cache
            /// The answer comes from the cache, because the server cannot be asked. It is the server's last answer and
            /// may be out of date.
            case stale
        }

        /// Members of the value.
        public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
    }
}

extension GrandstandClient.Found: Equatable where Value: Equatable {}
