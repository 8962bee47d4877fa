internal import APNsWire
internal import CoreMetrics
internal import FoundationEssentials
internal import Grandstand
internal import HTTP2
internal import JSON

extension APNsClient {
    /// Makes a call within the request timeout. A request that APNs never processed is repeated on another connection.
    /// A request that APNs may have processed returns `unanswered`. While APNs refuses the key's tokens, only one probe
    /// every few seconds is sent.
    ///
    /// - Parameters:
    ///   - kind: for metrics: `broadcast`, `device` or `manage`.
    ///   - headers: the headers without the credentials.
    func perform(
        _ kind: String, _ method: String, _ path: String, _ headers: [HTTP2Header], body: [UInt8],
        for address: APNsAddress
    ) async -> APNsAnswer<HTTP2Response> {
        let hosts = kind == "manage" ? settings.endpoints.manage : settings.endpoints.send
        guard let endpoint = hosts[address.environment] else {
            return .withheld("no endpoint is configured for this environment")
        }
        let request = HTTP2Request(
            method: method, path: path, authority: endpoint.authority, headers: headers, body: body)
        let use = KeyUse(credentials: address.credentials, environment: address.environment)
        let answer = await attempt(request, kind == "device" ? .devices : .channels, at: endpoint, as: use)
        settings.metrics.ended(kind, answer)
        return answer
    }

    private func attempt(
        _ request: HTTP2Request, _ traffic: Traffic, at endpoint: Endpoint, as use: KeyUse
    ) async -> APNsAnswer<HTTP2Response> {
        let credentials = use.credentials
        let clock = ContinuousClock()
        let deadline = clock.now + settings.requestTimeout
        var why = "no connection to \(endpoint.authority) in time"
        var isProbe = false
        var lastUsed: HTTP2ClientConnection?
        var sends = 0
        while sends < Self.maximumSends {
            let remaining = clock.now.duration(to: deadline)
            guard remaining > .zero, !Task.isCancelled else { return .unsent(why) }
            do {
                let token = try tokens.token(for: credentials)
                if !isProbe {
                    switch standings.turn(of: use, with: token) {
                    case .send: break
                    case .probe: isProbe = true
                    case .wait(let refusal, let seconds): return .refused(.heldBack(by: refusal, seconds: seconds))
                    }
                }
                let pool = try pool(endpoint, credentials, for: traffic)
                guard let connection = pool.ready(avoiding: lastUsed) else {
                    try await pool.wait(until: deadline)
                    continue
                }
                lastUsed = connection
                sends += 1
                var signed = request
                signed.headers.insert(
                    HTTP2Header(APNsHeader.authorization, "bearer \(token.text)", indexing: .never), at: 0)
                let response = try await connection.send(signed, timeout: remaining)
                let answer = Self.read(response)
                switch answer {
                case .accepted:
                    connection.streamsProven()
                    standings.accepted(token, of: use)
                // APNs checks the token before the channel and the quota. So if APNs refuses a call because of the
                // channel or the quota, APNs has accepted the token.
                case .refused(let refusal) where [.channelGone, .quota].contains(refusal.meaning):
                    connection.streamsProven()
                    standings.accepted(token, of: use)
                default: break
                }
                guard case .refused(var refusal) = answer, refusal.reason.concernsProviderToken else { return answer }
                refusal.retryAfter = standings.refused(refusal.reason, token, of: use) ?? refusal.retryAfter
                return .refused(refusal)
            } catch HTTP2Failure.notProcessed(let reason) {
                why = reason
                settings.metrics.replays.increment()
            } catch HTTP2Failure.unanswered(let reason) {
                return .unanswered(reason)
            } catch HTTP2Failure.cancelled {
                return .unanswered("the call was cancelled")
            } catch let fault as SigningKey.Fault {
                return .withheld(fault.description)
            } catch {
                return .unsent("\(error)")
            }
        }
        return .unsent(why)
    }

    /// The most times that one call is sent. After so many failed attempts, another attempt is unlikely to succeed.
    private static let maximumSends = 10

    /// A status from 200 to 299 is success. Any other is a refusal with its reason in the JSON body.
    static func read(_ response: HTTP2Response) -> APNsAnswer<HTTP2Response> {
        let requestID = response[header: APNsHeader.requestID] ?? response[header: APNsHeader.id]
        if (200..<300).contains(response.status) {
            return .accepted(
                response, APNsReceipt(requestID: requestID, uniqueID: response[header: APNsHeader.uniqueID]))
        }
        let body = try? JSONValue(parsing: response.body)
        return .refused(
            APNsRefusal(
                status: response.status, reason: reason(body, of: response), requestID: requestID,
                retryAfter: response[header: APNsHeader.retryAfter].flatMap { Int($0) }, since: since(body)))
    }

    /// The `timestamp` of a 410 answer, which Apple documents as milliseconds since 1970.
    private static func since(_ body: JSONValue?) -> Date? {
        guard case .number(let text)? = body?["timestamp"]?.kind, let milliseconds = Double(text) else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1_000)
    }

    private static func reason(_ body: JSONValue?, of response: HTTP2Response) -> APNsReason {
        if let text = body?["reason"]?.string, !text.isEmpty {
            return APNsReason(rawValue: String(text.prefix(200)))
        }
        return APNsReason(rawValue: "HTTP\(response.status)")
    }
}
