internal import CCurl
internal import Dispatch
internal import Grandstand
internal import Synchronization

/// Runs all transfers of the process on one thread, because libcurl can wait for all of them together.
final class Transfers: Sendable {
    /// libcurl's handle of all transfers. Only `run` works with it. Other threads only call `curl_multi_wakeup` with
    /// it, to wake `run`.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer
    private let arriving = Mutex<[Transfer]>([])

    /// `nil`: libcurl cannot be used, or it was built without an asynchronous resolver.
    static let shared: Transfers? = {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init(),
            curl_version_info(CURLVERSION_FIRST).pointee.features & CURL_VERSION_ASYNCHDNS != 0
        else { return nil }
        let transfers = Transfers(multi)
        DispatchQueue(label: "grandstand.webhooks").async { transfers.run() }
        return transfers
    }()

    private init(_ multi: UnsafeMutableRawPointer) { self.multi = multi }

    func carryOut(_ transfer: Transfer) async -> WebhookAnswer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.waiter = continuation
                arriving.withLock { $0.append(transfer) }
                curl_multi_wakeup(multi)
            }
        } onCancel: {
            transfer.cancel()
            curl_multi_wakeup(multi)
        }
    }

    private func run() {
        var active: [UnsafeMutableRawPointer: Transfer] = [:]
        while true {
            let arrived = arriving.withLock { arriving in
                defer { arriving = [] }
                return arriving
            }
            for transfer in arrived {
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
            curl_multi_poll(multi, nil, 0, active.isEmpty ? 60_000 : 1_000, nil)
        }
    }
}
