internal import NIOConcurrencyHelpers
internal import NIOCore

/// Runs tasks on an event loop, many jobs in each turn of the loop.
///
/// Jobs that are added during a turn wait for the next turn, so that the loop handles its sockets in between.
final class LoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop
    private let inbox = CommandInbox<UnownedJob>()

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        if inbox.append(UnownedJob(job)) { loop.execute { self.run() } }
    }

    private func run() {
        let jobs = inbox.takeAll()
        let executor = asUnownedTaskExecutor()
        for job in jobs { job.runSynchronously(on: executor) }
        inbox.recycle(jobs)
    }
}
