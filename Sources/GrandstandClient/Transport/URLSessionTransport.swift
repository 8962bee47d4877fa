public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking

    /// The type of a delegate's completion handler. It is not `@Sendable` in the Foundation for Linux.
    private typealias Completion<Value> = (Value) -> Void
#else
    /// The type of a delegate's completion handler. It is `@Sendable` in Apple's Foundation.
    private typealias Completion<Value> = @Sendable (Value) -> Void
#endif

/// Sends requests with a separate URLSession. It has no cache and no cookies, and follows no redirection to another
/// server, because that server would get the key.
public final class URLSessionTransport: ClientTransport {
    private let session: URLSession
    private let delegate: Delegate

    /// - Parameters:
    ///   - longestAnswer: seconds after which a request fails even if the server still sends.
    ///   - largestAnswer: the most bytes of a body; the rest is not read.
    public init(longestAnswer: TimeInterval = 24 * 3_600, largestAnswer: Int = .max) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForResource = longestAnswer
        delegate = Delegate(largestAnswer)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Makes one request.
    public func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Answer {
        try Task.checkCancellation()
        var carried = URLRequest(url: request.url)
        carried.httpMethod = request.method
        carried.httpBody = request.body
        carried.timeoutInterval = request.timeout
        for (name, value) in request.headers { carried.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: carried)
        let (answers, answer) = AsyncThrowingStream<GrandstandClient.Answer, any Error>.makeStream()
        answer.onTermination = { _ in task.cancel() }
        delegate.add(task, Exchange(answer: answer))
        #if canImport(FoundationNetworking)
            let watchdog = watch(task, timeout: request.timeout)
            defer { watchdog.cancel() }
        #endif
        task.resume()
        // The session must live while the answer is read.
        defer { withExtendedLifetime(self) {} }
        do {
            for try await answer in answers { return answer }
        } catch {
            try Task.checkCancellation()
            throw error
        }
        throw CancellationError()
    }

    #if canImport(FoundationNetworking)
        /// Ends a request if the server sends nothing for `timeout` seconds and three more. On Linux, URLSession may
        /// not notice that the server has closed a connection: it then reports nothing, not even after
        /// `timeoutInterval`.
        private func watch(_ task: URLSessionTask, timeout: TimeInterval) -> Task<Void, any Error> {
            Task { [delegate] in
                while let lastSign = delegate.heardAt(of: task) {
                    let left = timeout + 3 - (ProcessInfo.processInfo.systemUptime - lastSign)
                    guard left > 0 else { return delegate.end(task, URLError(.timedOut)) }
                    try await Task.sleep(nanoseconds: UInt64(left * 1_000_000_000))
                }
            }
        }
    #endif

    /// One request in progress.
    private struct Exchange {
        let answer: AsyncThrowingStream<GrandstandClient.Answer, any Error>.Continuation
        var body = Data()
        /// The system's uptime in seconds when the server last sent something.
        var heardAt = ProcessInfo.processInfo.systemUptime
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let exchanges = Locked<[Int: Exchange]>([:])
        private let maxBodyBytes: Int

        init(_ largestAnswer: Int) { self.maxBodyBytes = largestAnswer }

        func add(_ task: URLSessionTask, _ exchange: Exchange) {
            exchanges.withLock { $0[task.taskIdentifier] = exchange }
        }

        func heardAt(of task: URLSessionTask) -> TimeInterval? {
            exchanges.withLock { $0[task.taskIdentifier]?.heardAt }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping Completion<URLSession.ResponseDisposition>
        ) { completionHandler(.allow) }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isFull = exchanges.withLock { exchanges in
                guard var exchange = exchanges.removeValue(forKey: dataTask.taskIdentifier) else { return false }
                exchange.body += data.prefix(maxBodyBytes - exchange.body.count)
                exchange.heardAt = ProcessInfo.processInfo.systemUptime
                exchanges[dataTask.taskIdentifier] = exchange
                return exchange.body.count == maxBodyBytes
            }
            if isFull { end(dataTask, nil) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping Completion<URLRequest?>
        ) {
            let from = task.originalRequest?.url
            let isHere =
                request.url?.scheme == from?.scheme && request.url?.host == from?.host
                && request.url?.port == from?.port
            completionHandler(isHere ? request : nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end(task, error)
        }

        func end(_ task: URLSessionTask, _ error: (any Error)?) {
            guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            guard error == nil, let response = task.response as? HTTPURLResponse else {
                return exchange.answer.finish(throwing: error ?? URLError(.badServerResponse))
            }
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
            exchange.answer.yield(.init(status: response.statusCode, headers: headers, body: exchange.body))
            exchange.answer.finish()
        }
    }
}
