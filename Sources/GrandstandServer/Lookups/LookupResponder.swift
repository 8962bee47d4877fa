internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import NIOHTTP1
internal import Synchronization

/// Answers a lookup from memory if the key, the event and the channel are known, or if the same list was asked for
/// before. Everything else, including every refusal, goes to the routes, so that the rules exist only once.
struct LookupResponder: Sendable {
    private let replica: LookupReplica
    private let keys: KeyStore
    /// Count an answer of a route with its time, 200 or 304.
    private let ofOne, ofList: Meters
    private let headers: CommonHeaders
    private let now: @Sendable () -> Date
    private let dates = HTTPDates()

    init(
        replica: LookupReplica, keys: KeyStore, metrics: ServerMetrics,
        headers: CommonHeaders, now: @escaping @Sendable () -> Date
    ) {
        self.replica = replica
        self.keys = keys
        self.headers = headers
        self.now = now
        func meter(_ operation: Contract.Operation, _ status: Int, _ result: LookupResult) -> Meter {
            let answers = metrics.onAnswer(method: operation.method, path: operation.path, status: status)
            let lookups = metrics.onLookup(result)
            return { time in
                answers(time)
                lookups()
            }
        }
        ofOne = (meter(.lookup, 200, .found), meter(.lookup, 304, .notModified))
        ofList = (meter(.lookupList, 200, .listed), meter(.lookupList, 304, .notModified))
    }

    private typealias Meter = @Sendable (Duration) -> Void
    private typealias Meters = (found: Meter, notModified: Meter)

    /// The answer to a request without a body; `nil`: the request has to go to the routes.
    func answer(_ head: HTTPRequestHead) -> LookupResponse? {
        let started = ContinuousClock.now
        guard head.method == .GET, head.version == .http1_1, head.isKeepAlive,
            let fields = Fields(head.headers), let secret = API.bearer(fields.authorization)
        else { return nil }
        guard let (body, age, key, meters) = find(head.uri, secret) else { return nil }
        let now = now()
        keys.noteUse(key)
        var response = body.response(age: age, ifNoneMatch: fields.ifNoneMatch)
        headers.complete(&response.headers, requestID: RequestIDs.next(), standing: nil)
        response.headers.append(dates.field(at: now))
        (response.status == .notModified ? meters.notModified : meters.found)(ContinuousClock.now - started)
        return response
    }

    /// Parses `/v1/lookup/{bundleId}/{environment}/{key}` with an optional `?variant=`, or finds a list by its URI.
    /// Bundle IDs, keys and variants need no percent-encoding. A URI with percent-encoding or another query goes to the
    /// routes.
    private func find(
        _ uri: String, _ secret: Substring
    ) -> (body: LookupBody, age: Int, key: APIKey, meters: Meters)? {
        let parts = uri.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard 5...6 ~= parts.count, parts[0].isEmpty, parts[1].elementsEqual("v1".utf8),
            parts[2].elementsEqual("lookup".utf8), let bundleID = BundleID(rawValue: String(Substring(parts[3]))),
            let key = keys.known(secret),
            (try? API.check(key, for: Contract.Operation.lookup.scopes)) != nil,
            key.reach.covers(bundleID)
        else { return nil }
        if parts.count == 5 { return replica.knownPage(uri).map { ($0.body, $0.age, key, ofList) } }
        guard let environment = APNsEnvironment(rawValue: String(Substring(parts[4]))),
            let (name, variant) = Self.split(parts[5]), let eventKey = EventKey(rawValue: String(Substring(name))),
            let known = replica.known(
                LookupKey(
                    app: AppEnvironment(bundleID: bundleID, environment: environment), key: eventKey,
                    variant: variant))
        else { return nil }
        return (known.body, known.age, key, ofOne)
    }

    /// Splits the last part of a path into the name and the variant; `nil`: the query has something else.
    private static func split(_ part: Substring.UTF8View) -> (name: Substring.UTF8View, variant: Variant?)? {
        guard let mark = part.firstIndex(of: UInt8(ascii: "?")) else { return (part, nil) }
        let query = part[part.index(after: mark)...]
        let name = "variant=".utf8
        guard query.starts(with: name),
            let variant = Variant(rawValue: String(Substring(query.dropFirst(name.count))))
        else { return nil }
        return (part[..<mark], variant)
    }

    /// The header fields that change the answer. The initialiser returns `nil` for fields that only the routes handle,
    /// and for fields that occur twice.
    private struct Fields {
        var authorization: String?
        var ifNoneMatch: String?

        init?(_ headers: HTTPHeaders) {
            for (name, value) in headers {
                switch name.utf8.count {
                case 13 where name.isSame(as: "authorization"):
                    guard authorization == nil else { return nil }
                    authorization = value
                case 13 where name.isSame(as: "if-none-match"):
                    guard ifNoneMatch == nil else { return nil }
                    ifNoneMatch = value
                case 12 where name.isSame(as: "x-request-id"), 14 where name.isSame(as: "content-length"),
                    17 where name.isSame(as: "transfer-encoding"), 6 where name.isSame(as: "expect"),
                    7 where name.isSame(as: "upgrade"):
                    return nil
                default: break
                }
            }
        }
    }
}

extension String {
    /// Whether the strings are equal, ignoring ASCII case; `other` must be in lower case.
    fileprivate func isSame(as other: StaticString) -> Bool {
        other.withUTF8Buffer { other in zip(utf8, other).allSatisfy { $0 | 0x20 == $1 | 0x20 } }
    }
}

/// The `Date` field (RFC 9110, 5.6.7), formatted once a second.
final class HTTPDates: Sendable {
    private let last = Mutex((second: 0, field: HTTPField(name: .date, value: HTTPDate.text(0))))

    func field(at moment: Date) -> HTTPField {
        let second = Int(moment.timeIntervalSince1970.rounded(.down))
        return last.withLock { last in
            if second != last.second {
                last = (second, HTTPField(name: .date, value: HTTPDate.text(second)))
            }
            return last.field
        }
    }
}
