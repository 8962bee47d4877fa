public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

#if canImport(FoundationNetworking)
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
    private let delegate = Delegate()

    /// - Parameter longestAnswer: seconds after which a request fails even if the server still sends.
    public init(longestAnswer: TimeInterval = 24 * 3_600) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForResource = longestAnswer
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Makes one request.
    public func open(_ request: GrandstandClient.Request) async throws -> GrandstandClient.Response {
        try Task.checkCancellation()
        var carried = URLRequest(url: request.url)
        carried.httpMethod = request.method
        carried.httpBody = request.body
        carried.timeoutInterval = request.timeout
        for (name, value) in request.headers { carried.setValue(value, forHTTPHeaderField: name) }
        let exchange = Exchange(session.dataTask(with: carried))
        delegate.add(exchange)
        #if canImport(FoundationNetworking)
            exchange.watch(timeout: request.timeout, for: delegate)
        #endif
        do {
            return try await withTaskCancellationHandler {
                exchange.task.resume()
                return try await exchange.head()
            } onCancel: {
                exchange.task.cancel()
            }
        } catch {
            try Task.checkCancellation()
            throw error
        }
    }

    /// One request in progress.
    private final class Exchange: Sendable {
        let task: URLSessionDataTask
        private let heads: AsyncThrowingStream<GrandstandClient.Response, any Error>
        private let head: AsyncThrowingStream<GrandstandClient.Response, any Error>.Continuation
        /// The body of the answer. This object keeps the body until the head is handed out. After that, releasing the
        /// body ends the request.
        private let body: Locked<AsyncThrowingStream<Data, any Error>?>
        private let pieces: AsyncThrowingStream<Data, any Error>.Continuation

        init(_ task: URLSessionDataTask) {
            self.task = task
            (heads, head) = AsyncThrowingStream.makeStream()
            let (stream, pieces) = AsyncThrowingStream<Data, any Error>.makeStream()
            body = Locked(stream)
            self.pieces = pieces
            pieces.onTermination = { _ in task.cancel() }
        }

        func head() async throws -> GrandstandClient.Response {
            for try await response in heads { return response }
            throw CancellationError()
        }

        func begin(_ response: URLResponse) {
            noteSign()
            guard let response = response as? HTTPURLResponse else { return end(URLError(.badServerResponse)) }
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
            guard let body = body.withLock({ $0.take() }) else { return }
            head.yield(GrandstandClient.Response(status: response.statusCode, headers: headers, body: body))
            head.finish()
        }

        func take(_ data: Data) {
            noteSign()
            pieces.yield(data)
        }

        func end(_ error: (any Error)?) {
            #if canImport(FoundationNetworking)
                watchdog.withLock { $0.take() }?.cancel()
            #endif
            head.finish(throwing: error)
            pieces.finish(throwing: error)
        }

        private func noteSign() {
            #if canImport(FoundationNetworking)
                lastSign.withLock { $0 = ProcessInfo.processInfo.systemUptime }
            #endif
        }

        #if canImport(FoundationNetworking)
            /// The system's uptime in seconds when the server last sent something.
            private let lastSign = Locked(ProcessInfo.processInfo.systemUptime)
            private let watchdog = Locked<Task<Void, any Error>?>(nil)

            /// Ends the request if the server sends nothing for `timeout` seconds and three more. On Linux, URLSession
            /// may not notice that the server has closed a connection: it then reports nothing, not even after
            /// `timeoutInterval`.
            func watch(timeout: TimeInterval, for delegate: Delegate) {
                let longest = timeout + 3
                let watch = Task { [weak self, delegate] in
                    while let self {
                        let left = longest - (ProcessInfo.processInfo.systemUptime - lastSign.withLock { $0 })
                        guard left > 0 else { return delegate.end(task, URLError(.timedOut)) }
                        try await Task.sleep(nanoseconds: UInt64(min(left, longest) * 1_000_000_000))
                    }
                }
                watchdog.withLock { $0 = watch }
            }
        #endif
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let exchanges = Locked<[Int: Exchange]>([:])

        func add(_ exchange: Exchange) { exchanges.withLock { $0[exchange.task.taskIdentifier] = exchange } }

        private func exchange(_ task: URLSessionTask) -> Exchange? { exchanges.withLock { $0[task.taskIdentifier] } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping Completion<URLSession.ResponseDisposition>
        ) {
            exchange(dataTask)?.begin(response)
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(dataTask)?.take(data)
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
            exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
        }
    }
}
