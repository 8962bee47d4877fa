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
    private let message: ClaimedWebhook
    private let settings: WebhookClient.Settings
    private let handle: UnsafeMutableRawPointer
    /// Lists that libcurl reads during the post.
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    /// The answer's status when the header is complete.
    private var status: Int?
    private var received = 0
    /// Whether a socket was refused, because its address must not be called.
    private var wasRefused = false
    /// Whether a socket was opened, because its address may be called.
    private var wasAllowed = false

    /// The most bytes of an answer that are read, before the connection is closed.
    private static let longestAnswer = 64 * 1_024

    /// `nil`: there is not enough memory.
    init?(_ message: ClaimedWebhook, _ settings: WebhookClient.Settings) {
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
            message.body.array.withUnsafeBytes {
                ccurl_set_body(handle, $0.baseAddress ?? UnsafeRawPointer(handle), Int64($0.count))
            },
            set(CURLOPT_HTTPHEADER, headers),
            ccurl_set_callbacks(
                handle, Unmanaged.passUnretained(self).toOpaque(),
                { _, size, count, data in WebhookPost.of(data)?.readHead(size * count) ?? 0 },
                { _, size, count, data in WebhookPost.of(data)?.read(size * count) ?? 0 },
                { data, _, address in WebhookPost.of(data)?.open(address) ?? CURL_SOCKET_BAD }),
        ]
        if let authorities {
            codes.append(
                authorities.withUnsafeBytes { ccurl_set_authorities(handle, $0.baseAddress, Int64($0.count)) })
        }
        if !settings.addresses.isEmpty { codes.append(set(CURLOPT_RESOLVE, settings.addresses)) }
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
        let result = curl_easy_perform(handle)
        if let status {
            let seconds = ccurl_retry_after(handle)
            return .answered(status: status, retryAfter: seconds > 0 ? Int(seconds) : nil)
        }
        // The post was refused only if no address of the host was allowed. Otherwise a connection to an allowed address
        // failed.
        return .unanswered(wasRefused && !wasAllowed ? NetworkGuard.advice(message.url.host) : reason(result))
    }

    private func set(_ option: CURLoption, _ words: [String]) -> CURLcode {
        var list: UnsafeMutablePointer<curl_slist>?
        for word in words {
            guard let longer = curl_slist_append(list, word) else {
                curl_slist_free_all(list)
                return CURLE_OUT_OF_MEMORY
            }
            list = longer
        }
        if let list { lists.append(list) }
        return ccurl_set_pointer(handle, option, list)
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> WebhookPost? {
        data.map { Unmanaged<WebhookPost>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: the number of bytes accepted; if it is less than `count`, libcurl ends the transfer.
    private func read(_ count: Int) -> Int {
        received += count
        return received <= Self.longestAnswer ? count : 0
    }

    /// Reads a line of the header. An empty line completes it. A header with a status 1xx comes before the answer.
    private func readHead(_ count: Int) -> Int {
        let number = ccurl_long(handle, CURLINFO_RESPONSE_CODE)
        if count <= 2, number >= 200 { status = number }
        return read(count)
    }

    /// Opens a socket for the address that libcurl is about to connect to, if that address may be called.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address, let called = Self.address(address), settings.networks.allows(called) else {
            wasRefused = true
            return CURL_SOCKET_BAD
        }
        wasAllowed = true
        return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    }

    private static func address(_ address: UnsafeMutablePointer<curl_sockaddr>) -> IPAddress? {
        // The address is longer than libcurl's declared type, so it is read by its position in memory.
        let place = UnsafeRawPointer(address).advanced(by: MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0)
        switch address.pointee.family {
        case AF_INET:
            let bytes = place.loadUnaligned(as: sockaddr_in.self).sin_addr
            return withUnsafeBytes(of: bytes) { IPAddress(bytes: Array($0)) }
        case AF_INET6:
            let bytes = place.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return withUnsafeBytes(of: bytes) { IPAddress(bytes: Array($0)) }
        default: return nil
        }
    }

    /// The failure in words for the owner of the webhook.
    private func reason(_ result: CURLcode) -> String {
        let words = String(cString: curl_easy_strerror(result))
        switch result {
        case CURLE_OPERATION_TIMEDOUT: return "no answer in time"
        case CURLE_COULDNT_RESOLVE_HOST: return "\(message.url.host) has no address"
        case CURLE_COULDNT_CONNECT:
            let number = Int32(clamping: ccurl_long(handle, CURLINFO_OS_ERRNO))
            let why = number == 0 ? words : String(cString: strerror(number))
            return "no connection to \(message.url.authority): \(why)"
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE:
            return "the connection was closed without an answer"
        case CURLE_PEER_FAILED_VERIFICATION:
            return "TLS failed: the certificate is not trusted, or is for another name"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_ISSUER_ERROR:
            return "TLS failed: \(words)"
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2: return "the answer is not HTTP"
        case CURLE_WRITE_ERROR: return "the answer's header is too long"
        default: return words
        }
    }
}
