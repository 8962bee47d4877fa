internal import CCurl
internal import Grandstand

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// One POST and its answer.
final class WebhookPost {
    private let message: WebhookClaim
    private let settings: WebhookClient.Settings
    private let handle: UnsafeMutableRawPointer
    /// Lists that libcurl reads during the post.
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    /// The answer's status when the header is complete.
    private var status: Int?
    private var bytesRead = 0
    /// Whether a socket was refused, because its address must not be called.
    private var wasForbidden = false

    /// The most bytes of an answer that are read, before the connection is closed.
    private static let maxAnswerBytes = 64 * 1_024

    /// `nil`: there is not enough memory.
    init?(_ message: WebhookClaim, _ settings: WebhookClient.Settings) {
        guard let handle = curl_easy_init() else { return nil }
        (self.message, self.settings, self.handle) = (message, settings, handle)
    }

    deinit {
        curl_easy_cleanup(handle)
        for list in lists { curl_slist_free_all(list) }
    }

    /// Posts the message. The thread waits for the answer.
    ///
    /// - Returns: `nil`: libcurl does not have all options. Once the header is complete, its status counts, even if the
    ///   body fails.
    func perform(_ headers: [String], authorities: [UInt8]?) -> WebhookAnswer? {
        let milliseconds = max(1, Int(settings.timeout / .milliseconds(1)))
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_PATH_AS_IS, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NETRC, 0), (CURLOPT_NOSIGNAL, 1),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)), (CURLOPT_POST, 1),
            (CURLOPT_TIMEOUT_MS, milliseconds), (CURLOPT_CONNECTTIMEOUT_MS, milliseconds),
            // Each post opens its own connection and resolves the name again, so that every address is checked.
            (CURLOPT_FRESH_CONNECT, 1), (CURLOPT_FORBID_REUSE, 1), (CURLOPT_DNS_CACHE_TIMEOUT, 0),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
        ]
        var codes = numbers.map { ccurl_set_long(handle, $0, $1) }
        codes += [
            ccurl_set_pointer(handle, CURLOPT_URL, message.url.rawValue),
            ccurl_set_protocols(handle),
            // An empty name means no proxy, not even one from the environment.
            ccurl_set_pointer(handle, CURLOPT_PROXY, ""),
            ccurl_set_pointer(handle, CURLOPT_NOPROXY, "*"),
            ccurl_set_quick_exit(handle),
            message.body.utf8.withUnsafeBytes {
                ccurl_set_body(handle, $0.baseAddress ?? UnsafeRawPointer(handle), Int64($0.count))
            },
            set(CURLOPT_HTTPHEADER, headers),
            ccurl_set_callbacks(
                handle, Unmanaged.passUnretained(self).toOpaque(),
                { _, size, count, data in WebhookPost.from(data)?.headLine(size * count) ?? 0 },
                { _, size, count, data in WebhookPost.from(data)?.receive(size * count) ?? 0 },
                { data, _, address in WebhookPost.from(data)?.open(address) ?? CURL_SOCKET_BAD }),
        ]
        if let authorities {
            codes.append(
                authorities.withUnsafeBytes { ccurl_set_authorities(handle, $0.baseAddress, Int64($0.count)) })
        }
        if !settings.dnsOverrides.isEmpty { codes.append(set(CURLOPT_RESOLVE, settings.dnsOverrides)) }
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
        let result = curl_easy_perform(handle)
        if let status {
            let seconds = ccurl_retry_after(handle)
            return .answered(status: status, retryAfter: seconds > 0 ? Int(seconds) : nil)
        }
        if wasForbidden { return .unanswered(NetworkGuard.advice(message.url.host)) }
        return .unanswered("no answer: \(String(cString: curl_easy_strerror(result)))")
    }

    private func set(_ option: CURLoption, _ words: [String]) -> CURLcode {
        var list: UnsafeMutablePointer<curl_slist>?
        for word in words { list = curl_slist_append(list, word) }
        if let list { lists.append(list) }
        return ccurl_set_pointer(handle, option, list)
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> WebhookPost? {
        data.map { Unmanaged<WebhookPost>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: the number of bytes accepted; if it is less than `count`, libcurl ends the transfer.
    private func receive(_ count: Int) -> Int {
        bytesRead += count
        return bytesRead <= Self.maxAnswerBytes ? count : 0
    }

    /// Reads a line of the header. An empty line completes it. A header with a status 1xx comes before the answer.
    private func headLine(_ count: Int) -> Int {
        let number = ccurl_long(handle, CURLINFO_RESPONSE_CODE)
        if count <= 2, number >= 200 { status = number }
        return receive(count)
    }

    /// Opens a socket for the address that libcurl is about to connect to, if that address may be called.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address, let called = Self.address(address), settings.networks.allows(called) else {
            wasForbidden = true
            return CURL_SOCKET_BAD
        }
        return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    }

    private static func address(_ address: UnsafeMutablePointer<curl_sockaddr>) -> IPAddress? {
        // The address is longer than libcurl's declared type, so it is read by its position in memory: in `sockaddr_in`
        // and `sockaddr_in6`.
        let place = UnsafeRawPointer(address) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        return switch address.pointee.family {
        case AF_INET: IPAddress(bytes: Array(UnsafeRawBufferPointer(start: place + 4, count: 4)))
        case AF_INET6: IPAddress(bytes: Array(UnsafeRawBufferPointer(start: place + 8, count: 16)))
        default: nil
        }
    }
}
