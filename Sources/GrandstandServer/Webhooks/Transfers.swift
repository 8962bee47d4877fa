internal import CCurl
internal import Dispatch
internal import Grandstand
internal import Synchronization

/// Runs all transfers on one thread, because libcurl can wait for all of them together. The thread exists only while
/// there are transfers.
final class Transfers: Sendable {
    private struct State {
        var arriving: [Transfer] = []
        var isRunning = false
    }

    /// libcurl's handle of all transfers. Only `run` works with it. Other threads only call `curl_multi_wakeup` with
    /// it, to wake `run`.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer
    private let queue = DispatchQueue(label: "grandstand.webhooks")
    private let state = Mutex(State())

    private static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// - Throws: `WebhookClientError`.
    init() throws {
        guard Self.isUsable, ccurl_resolves_beside() != 0, let multi = curl_multi_init() else {
            throw WebhookClientError(
                description: "libcurl cannot be used, or it was built without an asynchronous resolver")
        }
        self.multi = multi
    }

    deinit { curl_multi_cleanup(multi) }

    func carryOut(_ transfer: Transfer) async -> WebhookAnswer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.waiter = continuation
                start(transfer)
            }
        } onCancel: {
            transfer.cancel()
            curl_multi_wakeup(multi)
        }
    }

    private func start(_ transfer: Transfer) {
        let mustRun = state.withLock { state in
            state.arriving.append(transfer)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustRun { queue.async { self.run() } } else { curl_multi_wakeup(multi) }
    }

    /// Runs transfers until none is left.
    private func run() {
        var active: [UnsafeMutableRawPointer: Transfer] = [:]
        while let arriving = next(while: active.isEmpty) {
            for transfer in arriving {
                guard let handle = transfer.begin(), curl_multi_add_handle(multi, handle) == CURLM_OK else {
                    transfer.end(.unanswered("libcurl cannot start the post"))
                    continue
                }
                active[handle] = transfer
            }
            for (handle, transfer) in active where transfer.isCancelled {
                active[handle] = nil
                curl_multi_remove_handle(multi, handle)
                transfer.end(.unanswered("the server is stopping"))
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var waiting: Int32 = 0
            while let message = curl_multi_info_read(multi, &waiting)?.pointee {
                guard message.msg == CURLMSG_DONE, let handle = message.easy_handle,
                    let transfer = active.removeValue(forKey: handle)
                else { continue }
                let answer = transfer.answer(message.data.result)
                curl_multi_remove_handle(multi, handle)
                transfer.end(answer)
            }
            if !active.isEmpty { curl_multi_poll(multi, nil, 0, 1_000, nil) }
        }
    }

    /// The transfers added since the last call. `nil`: none was added and no transfer is active, so `run` must end.
    private func next(while isIdle: Bool) -> [Transfer]? {
        state.withLock { state in
            if isIdle, state.arriving.isEmpty {
                state.isRunning = false
                return nil
            }
            defer { state.arriving = [] }
            return state.arriving
        }
    }
}
